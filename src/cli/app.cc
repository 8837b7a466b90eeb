#include "cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <new>
#include <string_view>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse.h"
#include "cli/progress.h"
#include "report/print.h"

namespace npukit::cli {
namespace {

constexpr std::array kCommands = {
#define COMMAND(name) &command::name,
#include "cli/commands.inc"
#undef COMMAND
};

// Verbs that other versions have.
constexpr std::array<std::string_view, 4> kNotYet = {"export", "probe", "quantize", "serve"};

std::string Overview() {
  std::string text =
      "npukit takes a trained network to a phone's NPU and says where every operator "
      "runs.\n\nUsage: npukit VERB ...\n\n";
  for (const Command* c : kCommands) text += fmt::format("  {:<11} {}\n", c->name, c->summary);
  return text + "\nnpukit help VERB says everything about one; npukit --version.\n";
}

int Usage(const std::string& message) {
  Put(stderr, fmt::format("npukit: {}\n", message));
  return kBadInput;
}

int NoSuchVerb(std::string_view verb) {
  if (std::find(kNotYet.begin(), kNotYet.end(), verb) != kNotYet.end()) {
    return Usage(fmt::format("{}: not in this version", verb));
  }
  std::string there;
  for (const Command* c : kCommands)
    there += fmt::format("{}{}", there.empty() ? "" : ", ", c->name);
  return Usage(fmt::format("no verb \"{}\"; there is: {}", Printable(verb), there));
}

int Help(std::span<const char* const> words) {
  if (words.empty()) {
    Put(stdout, Overview());
    return kFine;
  }
  const Command* c = FindCommand(words[0]);
  if (c == nullptr) return NoSuchVerb(words[0]);
  Put(stdout, HelpText(*c));
  return kFine;
}

int Dispatch(std::span<const char* const> words) {
  if (words.empty()) {
    Put(stderr, Overview());
    return kBadInput;
  }
  const std::string_view verb = words[0];
  const auto rest = words.subspan(1);
  if (verb == "help") return Help(rest);
  if (verb == "--help" || verb == "-h") return Help({});
  if (verb == "--version") {
    Put(stdout, report::ToolText() + "\n");
    return kFine;
  }
  const Command* command = FindCommand(verb);
  if (command == nullptr) {
    if (verb.starts_with("-"))
      return Usage(fmt::format("{}: a verb comes first; see npukit help", Printable(verb)));
    return NoSuchVerb(verb);
  }
  const auto parsed = Parse(*command, rest);
  if (!parsed.ok()) return Usage(parsed.status().message());
  if (parsed->help) {
    Put(stdout, HelpText(*command));
    return kFine;
  }
  Context context(parsed->options, command->name);
  return command->run(parsed->options, context);
}

}  // namespace

std::span<const Command* const> Commands() { return kCommands; }

const Command* FindCommand(std::string_view name) {
  for (const Command* c : kCommands) {
    if (c->name == name) return c;
  }
  return nullptr;
}

int Main(std::span<const char* const> words) {
  std::signal(
      SIGXFSZ,
      SIG_IGN);  // a file over the limit is a write error, reported and cleaned up like a full disk
  try {
    return Dispatch(words);
  } catch (const std::bad_alloc&) {
    std::fputs("npukit: out of memory\n", stderr);
    return kFailed;
  }
}

}  // namespace npukit::cli
