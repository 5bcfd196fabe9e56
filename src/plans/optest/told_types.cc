#include "plans/optest/told_types.h"

namespace assay::optest {

nlohmann::json told_shapes(const std::vector<Shape>& shapes) {
  auto list = nlohmann::json::array();
  for (const auto& shape : shapes) list.push_back(shape.extents);
  return list;
}

nlohmann::json told_dtypes(const std::vector<contract::DType>& dtypes) {
  auto list = nlohmann::json::array();
  for (const auto dtype : dtypes) list.push_back(contract::name(dtype));
  return list;
}

}  // namespace assay::optest
