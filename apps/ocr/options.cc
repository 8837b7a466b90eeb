#include "options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace ocr {
namespace {

constexpr std::string_view kHelp =
    R"(npukit-ocr: reads the text on photos with PP-OCR's three networks

usage: npukit-ocr --det PKG --cls PKG --rec PKG --keys FILE [-d DEVICE] [--json] [-o FILE]
                  [--report-folder DIR] [--dump DIR] PHOTO...
       npukit-ocr --replay DIR --keys FILE [--json] [-o FILE]
                  [--report-folder DIR] [--dump DIR] PHOTO...

  --det PKG        package of the text detector, compiled for one or more 1x3xHxW
  --cls PKG        package of the classifier "is this line upside down"
  --rec PKG        package of the recogniser, compiled for one height and one or more widths
  --keys FILE      the recogniser's alphabet, one character a line
  -d, --device D   NPU, CPU, AUTO:NPU,CPU (default) or HETERO:NPU,CPU
  --threads N      CPU threads (default: NPUKIT_THREADS, else the machine's cores)
  --json           print one JSON object instead of text
  -o, --output F   write that JSON object to F as well
  --report-folder DIR  leave ocr.html there: photos with boxes, times, where each network ran
  --dump DIR       also write every network input to DIR (det_0000.npy, cls_0000.npy, ...) and
                   its output under the same name to DIR/outputs
  --replay DIR     take the networks' outputs from such files in DIR instead of running packages.
                   With --dump, goes as far as the outputs reach and dumps the inputs of the
                   missing ones.
  -h, --help       this text

Latency is printed per step with its kind: measured on this machine, or modelled for a simulated
target. Exit code: 0 fine, 2 bad input or usage, 3 failure after work began.
)";

}  // namespace

std::string_view HelpText() { return kHelp; }

Result<Options> ParseOptions(std::span<const char* const> arguments) {
  Options options;
  struct Flag {
    std::string_view name;
    std::string* value;
  };
  std::string threads;
  const std::array<Flag, 10> flags = {{{"--det", &options.det},
                                       {"--cls", &options.cls},
                                       {"--rec", &options.rec},
                                       {"--keys", &options.keys},
                                       {"--device", &options.device},
                                       {"--threads", &threads},
                                       {"--output", &options.output},
                                       {"--dump", &options.dump},
                                       {"--replay", &options.replay},
                                       {"--report-folder", &options.report_folder}}};
  std::set<std::string_view> seen;
  bool flags_over = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (flags_over || !argument.starts_with('-') || argument == "-") {
      options.photos.emplace_back(argument);
      continue;
    }
    if (argument == "--") {
      flags_over = true;
      continue;
    }
    if (argument == "-h" || argument == "--help") {
      options.help = true;
      return options;
    }
    if (argument == "-d") argument = "--device";
    if (argument == "-o") argument = "--output";
    std::string_view name = argument.substr(0, argument.find('='));
    if (!seen.insert(name).second) return BadInput(std::string(name) + ": given twice");
    if (argument == "--json") {
      options.json = true;
      continue;
    }
    const auto flag = std::ranges::find(flags, name, &Flag::name);
    if (flag == flags.end())
      return BadInput(std::string(argument) + ": unknown flag; see npukit-ocr --help");
    flag->value->clear();
    if (name.size() < argument.size()) {
      *flag->value = argument.substr(name.size() + 1);
    } else if (i + 1 < arguments.size()) {
      *flag->value = arguments[++i];
    }
    if (flag->value->empty()) return BadInput(std::string(name) + ": needs a value");
  }

  if (!threads.empty()) {
    auto [end, failed] =
        std::from_chars(threads.data(), threads.data() + threads.size(), options.threads);
    if (failed != std::errc() || end != threads.data() + threads.size() || options.threads < 1 ||
        options.threads > 1024) {
      return BadInput("--threads " + threads + ": expected a number from 1 to 1024");
    }
  }
  if (options.keys.empty()) return BadInput("--keys FILE is missing; see npukit-ocr --help");
  if (options.replay.empty()) {
    for (const Flag& flag : std::span(flags).first(3)) {
      if (flag.value->empty())
        return BadInput(std::string(flag.name) + " PKG is missing; see npukit-ocr --help");
    }
  } else {
    for (std::string_view name : {"--det", "--cls", "--rec", "--device", "--threads"}) {
      if (seen.contains(name))
        return BadInput(std::string(name) + ": has no meaning under --replay");
    }
  }
  if (options.photos.empty()) return BadInput("no photo given; see npukit-ocr --help");
  return options;
}

}  // namespace ocr
