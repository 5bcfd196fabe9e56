#include <algorithm>
#include <map>

#include "plans/optest/builtins.h"
#include "plans/optest/plan_parts.h"

namespace assay::optest {
namespace {

const std::vector<std::string> kCaseKeys{"name",    "dtypes",    "shapes",    "inputs",
                                         "outputs", "generator", "assertion", "backends",
                                         "tags",    "priority"};
constexpr std::size_t kMaxDimensions = 16;

class CaseReader {
 public:
  CaseReader(Reading& reading, const Value& value, const std::string& where)
      : reading_(reading), value_(value), where_(where) {}

  CaseRead read(const PlanDefaults& defaults, const std::filesystem::path& folder) {
    CaseRead read{.place = value_.place};
    if (!reading_.is_mapping(value_, where_, kCaseKeys)) return read;
    Case& one = read.one;
    one.name = reading_.required_text(value_, where_, "name");
    one.inputs = files("inputs", defaults.inputs);
    one.outputs = files("outputs", defaults.outputs);
    check_files(defaults);
    one.tags = reading_.texts(value_, where_, "tags");
    one.tags.insert(one.tags.end(), defaults.tags.begin(), defaults.tags.end());
    one.priority = reading_.integer(value_, where_, "priority", INT32_MIN, INT32_MAX);
    if (!one.priority) one.priority = defaults.priority;
    read_dtypes(one);
    one.generator = read_generator(reading_, part("generator", defaults.generator),
                                   where_ + ".generator", one.inputs.size(), folder);
    one.assertion = read_assertion(reading_, part("assertion", defaults.assertion),
                                   where_ + ".assertion", one, folder);
    read_shapes(one);
    read_backends(one);
    return read;
  }

 private:
  std::vector<std::string> files(const std::string& key, const std::vector<std::string>& fallback) {
    return value_.find(key) != nullptr ? reading_.texts(value_, where_, key) : fallback;
  }

  // One file, one purpose: a command must not write over what it reads.
  void check_files(const PlanDefaults& defaults) {
    std::map<std::string, std::string> purposes;  // by path
    for (const auto& [key, fallback] :
         {std::pair{"inputs", &defaults.input_list}, std::pair{"outputs", &defaults.output_list}}) {
      const Value* own = value_.find(key);
      const Value& list = own != nullptr ? *own : *fallback;
      for (std::size_t i = 0; i < list.items.size(); ++i) {
        if (!list.items[i].is_scalar()) continue;
        const std::string path =
            std::filesystem::path(list.items[i].text).lexically_normal().string();
        const std::string purpose =
            (key == std::string_view("inputs") ? "input" : "output") + std::to_string(i);
        const auto [known, is_new] = purposes.emplace(path, purpose);
        if (is_new) continue;
        reading_.problems().error(
            list.items[i].place, at(below(where_, key), i),
            "'" + path + "' is " + known->second + " and " + purpose + " at once");
      }
    }
  }

  // The plan's with the case's laid onto it. A custom function of the plan's is not half replaced
  // by a builtin's name.
  Value part(const std::string& key, const Value& fallback) {
    const Value* own = value_.find(key);
    if (own == nullptr || own->is_null()) return fallback;
    if (fallback.is_null()) return *own;
    Value base = fallback;
    if (own->is_mapping() && own->find("name") != nullptr && own->find("source") == nullptr) {
      std::erase_if(base.entries, [](const auto& entry) { return entry.key == "source"; });
    }
    return merged(base, *own);
  }

  void read_dtypes(Case& one) {
    const Value* list = value_.find("dtypes");
    if (list == nullptr || !list->is_sequence()) {
      reading_.problems().error(list != nullptr ? list->place : value_.place, where_ + ".dtypes",
                                "must be a list with one dtype per input");
      return;
    }
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      const auto dtype = read_dtype(reading_, list->items[i].text, list->items[i].place,
                                    at(where_ + ".dtypes", i));
      one.dtypes.push_back(dtype.value_or(contract::DType::float32));
    }
    if (one.dtypes.size() != one.inputs.size()) {
      reading_.problems().error(list->place, where_ + ".dtypes",
                                std::to_string(one.dtypes.size()) + " dtypes, but there are " +
                                    std::to_string(one.inputs.size()) + " inputs");
    }
  }

  void read_shapes(Case& one) {
    const std::string where = where_ + ".shapes";
    const Value* list = value_.find("shapes");
    if (list == nullptr || !list->is_sequence() || list->items.empty()) {
      reading_.problems().error(list != nullptr ? list->place : value_.place, where,
                                "must be a list with at least one {inputs, outputs}");
      return;
    }
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      const Value& entry = list->items[i];
      if (!reading_.is_mapping(entry, at(where, i), {"inputs", "outputs"})) continue;
      ShapeEntry shapes;
      shapes.inputs = side(entry, at(where, i), "inputs", one.inputs.size(), one.dtypes);
      shapes.outputs =
          side(entry, at(where, i), "outputs", one.outputs.size(), one.assertion.output_dtypes);
      one.shapes.push_back(std::move(shapes));
    }
  }

  std::vector<Shape> side(const Value& entry, const std::string& where, const std::string& key,
                          std::size_t wanted, const std::vector<contract::DType>& dtypes) {
    std::vector<Shape> shapes;
    const Value* list = entry.find(key);
    if (list == nullptr || !list->is_sequence()) {
      if (wanted == 0 && list == nullptr) return shapes;
      reading_.problems().error(list != nullptr ? list->place : entry.place, below(where, key),
                                "must be a list of shapes");
      return shapes;
    }
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      const auto dtype = i < dtypes.size() ? dtypes[i] : contract::DType::float32;
      shapes.push_back(shape(list->items[i], at(below(where, key), i), dtype));
    }
    if (shapes.size() != wanted) {
      reading_.problems().error(list->place, below(where, key),
                                std::to_string(shapes.size()) + " shapes, but there are " +
                                    std::to_string(wanted) + " " + key);
    }
    return shapes;
  }

  Shape shape(const Value& value, const std::string& where, contract::DType dtype) {
    Shape result;
    if (!value.is_sequence() || value.items.size() > kMaxDimensions) {
      reading_.problems().error(value.place, where, "must be a list of at most 16 extents");
      return result;
    }
    std::uint64_t bytes = contract::size_bytes(dtype);
    for (const Value& item : value.items) {
      const auto extent = as_integer(item);
      if (!extent || *extent < 0) {
        reading_.problems().error(item.place, where, "an extent is an integer, not negative");
        return result;
      }
      const auto factor = static_cast<std::uint64_t>(*extent);
      if (factor != 0 && bytes > kMaxTensorBytes / factor) {
        reading_.problems().error(
            item.place, where,
            "the tensor has more than " + std::to_string(kMaxTensorBytes >> 30) + " GiB");
        return result;
      }
      if (factor == 0)
        reading_.problems().warn(item.place, where,
                                 "the tensor has no elements: nothing of it is compared");
      bytes *= factor;
      result.extents.push_back(*extent);
    }
    return result;
  }

  void read_backends(Case& one) {
    const Value* value = value_.find("backends");
    if (value == nullptr || value->is_null()) return;
    const std::string where = where_ + ".backends";
    if (!reading_.is_mapping(*value, where, {"only", "skip", "xfail"})) return;
    one.only = reading_.texts(*value, where, "only");
    one.skip = reading_.texts(*value, where, "skip");
    one.xfail = reading_.texts(*value, where, "xfail");
    if (!one.only.empty() && !one.skip.empty()) {
      reading_.problems().error(value->place, where, "has both only and skip");
    }
    for (const auto& type : one.skip) {
      if (std::find(one.xfail.begin(), one.xfail.end(), type) != one.xfail.end()) {
        reading_.problems().error(value->place, where, "'" + type + "' is in skip and in xfail");
      }
    }
    for (const auto* list : {&one.only, &one.skip, &one.xfail}) {
      for (const auto& type : *list) {
        if (type != "cann" && type != "cuda" && type != "assay") {
          reading_.problems().error(value->place, where,
                                    "'" + type + "' is no backend type (cann, cuda, assay)");
        }
      }
    }
  }

  Reading& reading_;
  const Value& value_;
  const std::string& where_;
};

}  // namespace

CaseRead read_case(Reading& reading, const Value& value, const std::string& where,
                   const PlanDefaults& defaults, const std::filesystem::path& folder) {
  return CaseReader(reading, value, where).read(defaults, folder);
}

std::optional<contract::DType> read_dtype(Reading& reading, const std::string& text, Place place,
                                          const std::string& where) {
  const auto dtype = contract::parse_dtype(text);
  if (!dtype) {
    reading.problems().error(place, where, "'" + text + "' is no dtype");
  } else if (contract::is_complex(*dtype)) {
    reading.problems().error(place, where, "complex dtypes are not supported in plans");
    return std::nullopt;
  }
  return dtype;
}

}  // namespace assay::optest
