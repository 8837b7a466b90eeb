// The parts of `compare`: a graph run on devices with every value handed out, values from a folder
// of .npy files, and how far apart two values are. compare.cc puts them together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compile/partition/partition.h"
#include "eval/compare.h"
#include "ir/graph.h"
#include "lab/open.h"
#include "report/records.h"

namespace npukit::lab {

// By value of a graph; absent where it was not made.
using Values = std::vector<tensor::Value>;

// A graph at concrete shapes, rewritten, and which device runs which node.
struct Placed {
  ir::Graph graph;
  compile::Partition partition;
  compile::Partition cpu;  // everything on the CPU
};

struct TapOptions {
  target::Profile profile;
  int threads = 0;
};

// What each node of `g` makes of `inputs` (in the order of g.inputs) when the whole graph runs as
// `partition` says. Every node's results become outputs; tiling and values stay the devices' own.
Result<Values> RunTapped(const Kit& kit, const ir::Graph& g, const compile::Partition& partition,
                         const std::vector<tensor::Value>& inputs, const TapOptions& options);

// What each node makes, on the device that `partition` gives it, of its inputs' values in
// `reference`: no node sees another's error.
Result<Values> RunApart(const Kit& kit, const ir::Graph& g, const compile::Partition& partition,
                        const Values& reference, const TapOptions& options);

// Values somebody else computed: NAME.npy by the names of the imported model's values.
struct Dump {
  std::map<std::string, tensor::Value> values;  // by name
  std::map<std::string, std::string> files;     // by name
};
// kInvalidArgument: a file that no value of `names` is called after, or of another type than
// `types` say (expected and found). kNotFound: nothing there belongs to the model.
Result<Dump> ReadDump(Env& env, const std::string& folder, const std::vector<std::string>& names,
                      const std::map<std::string, tensor::Type>& types,
                      const std::vector<std::string>& outputs);

// The dumped value of `v` of the rewritten graph: in its own order of dimensions, or channels last
// as the pass choose_layout calls it. Null when there is none.
const tensor::Value* FindDumped(const Dump& dump, const ir::ValueInfo& v, tensor::Value* storage,
                                std::string* file);

// kInvalidArgument: types or shapes differ.
Result<report::Closeness> Measure(const tensor::Value& found, const tensor::Value& reference);
bool IsWithin(const report::Closeness& c, double min_cosine);

}  // namespace npukit::lab
