// npukit-ocr: reads the text on photos. See options.cc for the usage.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <opencv2/core/utils/logger.hpp>

#include "files.h"
#include "html_report.h"
#include "npukit/runtime.h"
#include "ocr/version.h"  // made by cmake/version.cmake
#include "options.h"
#include "pixels.h"
#include "reader.h"
#include "replay_network.h"
#include "report.h"
#include "session_network.h"

namespace ocr {
namespace {

// Says on stderr how far it is, at most every two seconds, so that quick work stays silent.
class ProgressLine {
 public:
  ProgressLine(std::size_t photo, std::size_t photos) : photo_(photo), photos_(photos) {}

  void operator()(Role role, std::size_t done, std::size_t total) const {
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::seconds(2)) return;
    last_ = now;
    std::fprintf(stderr, "npukit-ocr: photo %zu of %zu, %s %zu of %zu\n", photo_ + 1, photos_,
                 RoleName(role).data(), done, total);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::size_t photo_;
  std::size_t photos_;
  inline static Clock::time_point last_ = Clock::now();
};

Result<std::unique_ptr<Network>> OpenNetwork(Role role, const Options& options) {
  const std::string name(RoleName(role));
  std::unique_ptr<Network> network;
  if (options.replay.empty()) {
    const std::string& package = role == Role::kDetect  ? options.det
                                 : role == Role::kAngle ? options.cls
                                                        : options.rec;
    Result<std::unique_ptr<Network>> opened = OpenPackage(package, options.device, options.threads);
    if (!opened.ok()) return opened;
    network = std::move(opened.value());
  } else {
    network = std::make_unique<ReplayNetwork>(name, options.replay);
  }
  if (options.dump.empty()) return network;
  return std::unique_ptr<Network>(
      std::make_unique<DumpNetwork>(name, options.dump, std::move(network)));
}

MaybeError Print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return std::nullopt;
  return Failed("standard output: writing failed");
}

// Reads all photos; as text, each is printed as soon as it is read.
Result<std::vector<PhotoReport>> ReadAll(Reader* reader, const Options& options) {
  std::vector<PhotoReport> reports;
  MaybeError pending;
  for (std::size_t i = 0; i < options.photos.size(); ++i) {
    Result<cv::Mat> photo = ReadPhoto(options.photos[i]);
    if (!photo.ok()) return photo.error();
    Result<PhotoReading> reading =
        reader->Read(photo.value(), ProgressLine(i, options.photos.size()));
    if (reading.ok()) {
      reports.push_back({options.photos[i], std::move(reading.value())});
      if (options.json) continue;
      if (MaybeError error = Print(PhotoText(reports.back()))) return *error;
    } else if (reading.error().pending && !options.dump.empty()) {
      pending = reading.error();  // the other photos' inputs are wanted too
    } else {
      Error error = reading.error();
      error.message = options.photos[i] + ": " + error.message;
      return error;
    }
  }
  if (pending) return *pending;
  return reports;
}

MaybeError Work(const Options& options) {
  Result<Alphabet> alphabet = Alphabet::Read(options.keys);
  if (!alphabet.ok()) return alphabet.error();
  if (!options.dump.empty()) {
    const std::filesystem::path outputs = std::filesystem::path(options.dump) / kOutputs;
    if (MaybeError error = MakeFolder(outputs)) return error;
  }
  const std::filesystem::path html = std::filesystem::path(options.report_folder) / kHtmlName;
  if (!options.report_folder.empty()) {
    if (MaybeError error = MakeFolder(options.report_folder)) return error;
    if (MaybeError error = TryFile(html)) return error;  // before the work
  }
  std::vector<std::unique_ptr<Network>> networks;
  for (Role role : kRoles) {
    Result<std::unique_ptr<Network>> network = OpenNetwork(role, options);
    if (!network.ok()) return network.error();
    networks.push_back(std::move(network.value()));
  }
  Result<Reader> reader = Reader::Make(networks[0].get(), networks[1].get(), networks[2].get(),
                                       std::move(alphabet.value()), ReadOptions());
  if (!reader.ok()) return reader.error();
  Result<std::vector<PhotoReport>> reports = ReadAll(&reader.value(), options);
  if (!reports.ok()) return reports.error();

  const std::string json = JsonReport(reports.value(), npk_version(), NPUKIT_GIT);
  if (!options.output.empty()) {
    if (MaybeError error = WriteFile(options.output, json)) return error;
  }
  if (!options.report_folder.empty()) {
    if (MaybeError error = WriteHtml(reports.value(), html)) return error;
  }
  return Print(options.json ? json : NetworksText(reports.value()));
}

int Main(std::span<const char* const> arguments) {
  // OpenCV's complaints about a picture are reported by us, in one line.
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  Result<Options> options = ParseOptions(arguments);
  MaybeError error;
  if (!options.ok()) {
    error = options.error();
  } else {
    error = options.value().help ? Print(HelpText()) : Work(options.value());
  }
  if (!error) return 0;
  std::fprintf(stderr, "npukit-ocr: %s\n", error->message.c_str());
  return error->exit_code;
}

}  // namespace
}  // namespace ocr

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is a write error, as a full disk is
  // Two things may still throw: OpenCV on a picture it cannot handle, and memory running out.
  try {
    return ocr::Main({argv + 1, argv + std::max(argc, 1)});
  } catch (const cv::Exception& e) {
    std::fprintf(stderr, "npukit-ocr: OpenCV: %s\n", e.err.c_str());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "npukit-ocr: out of memory\n");
  }
  return ocr::kExitFailed;
}
