#include "report/trace.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/print.h"
#include "report/words.h"

namespace npukit::report {
namespace {

constexpr std::size_t kNameBytes = 400;

std::string Quoted(std::string_view text) {
  return nlohmann::json(Printable(text, kNameBytes)).dump();
}

class Writer {
 public:
  explicit Writer(std::string_view title) {
    Event(fmt::format(R"({{"ph":"M","pid":1,"name":"process_name","args":{{"name":{}}}}})",
                      Quoted(Cat(title, " (modelled)"))));
  }

  // Times in ns; the format has microseconds.
  void Add(const std::string& track, std::string_view name, double start_ns, double duration_ns,
           const std::string& args) {
    if (!std::isfinite(start_ns) || !std::isfinite(duration_ns)) return;
    Event(fmt::format(
        R"({{"ph":"X","pid":1,"tid":{},"ts":{:.4f},"dur":{:.4f},"name":{},"args":{{{}}}}})",
        ThreadOf(track), start_ns / 1e3, duration_ns / 1e3, Quoted(name), args));
  }

  std::string Finish() const {
    return fmt::format(
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"tool\":{},\"kind\":\"modelled\"}},\n"
        "\"traceEvents\":[\n{}\n]}}\n",
        Quoted(ToolText()), events_);
  }

 private:
  std::size_t ThreadOf(const std::string& track) {
    const auto [at, fresh] = threads_.try_emplace(track, threads_.size() + 1);
    if (fresh) {
      Event(
          fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":{}}}}})",
                      at->second, Quoted(track)));
      Event(fmt::format(
          R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_sort_index","args":{{"sort_index":{0}}}}})",
          at->second));
    }
    return at->second;
  }
  void Event(const std::string& text) {
    if (!events_.empty()) events_ += ",\n";
    events_ += text;
  }

  std::map<std::string, std::size_t> threads_;
  std::string events_;
};

std::string Title(const std::string& model, const Target& target) {
  return fmt::format("{} on {}", model.substr(model.find_last_of('/') + 1), TargetText(target));
}

}  // namespace

std::string ToTrace(std::string_view title, const std::vector<OpRow>& ops,
                    const std::vector<target::Span>& spans) {
  if (ops.empty() && spans.empty()) return "";
  Writer writer(title);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const OpRow& o = ops[i];
    writer.Add(
        o.device + " operators", o.name, o.start_ms * 1e6, o.ms * 1e6,
        fmt::format(R"("task":{},"kind":{},"bound_us":{:.4f},"utilisation":{:.4f},)"
                    R"("dram_bytes":{:.0f},"macs":{:.0f})",
                    i, Quoted(o.kind), o.bound_ms * 1e3, o.utilisation, o.dram_bytes, o.macs));
  }
  for (const target::Span& s : spans) {
    writer.Add(s.track, s.name, s.start_ns, s.duration_ns, fmt::format(R"("task":{})", s.task));
  }
  return writer.Finish();
}

std::string ToTrace(const Bench& r) { return ToTrace(Title(r.model, r.target), r.ops, r.spans); }
std::string ToTrace(const Explain& r) { return ToTrace(Title(r.model, r.target), r.ops, r.spans); }

}  // namespace npukit::report
