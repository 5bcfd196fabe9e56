// Texture fetches: which texture object, which coordinates, which four results.
#include "engine/emulator/decoder.h"
#include "engine/emulator/texture_ops.h"

namespace assay::emulator {

// tex.1d.v4.f32.s32 {r, g, b, a}, [t, {x}]; tex{.level}.2d.v4.f32.f32 {r, g, b, a}, [t, {x, y}]{,
// level}. There is one level, whichever is asked for.
bool FunctionDecoder::decode_texture(Form& form) {
  const bool has_level = form.take("level");
  const unsigned dimensions = form.take("1d") ? 1 : form.take("2d") ? 2 : 0;
  if (dimensions == 0 || !form.take("v4")) return false;
  const Type type = form.take_type();
  const Type coordinate = form.take_type();
  if (type != Type::f32 && type != Type::u32 && type != Type::s32) return false;
  if (coordinate != Type::f32 && (coordinate != Type::s32 || dimensions == 2)) return false;
  if (operands_.size() != (has_level ? 3U : 2U) || operands_[1].items.size() != 1) return false;
  const Operand& values = operands_[0];
  const Operand& place = operands_[1];
  const Operand& at = place.items[0];
  const bool is_list = at.kind == Operand::Kind::list;
  if (values.kind != Operand::Kind::list || values.items.size() != 4 ||
      place.kind != Operand::Kind::memory || (is_list ? at.items.size() : 1) != dimensions) {
    return false;
  }
  // By a name it would be a texture reference, which CUDA has given up.
  const auto handle = register_of({.word = place.word});
  if (!handle || register_bytes(handle->type) != 8) return false;
  Op op{.e = handle->offset};
  op.target = source(is_list ? at.items[0] : at, coordinate);
  if (dimensions == 2) op.imm = source(at.items[1], coordinate);
  op.d = result(values.items[0], type);
  op.a = result(values.items[1], type);
  op.b = result(values.items[2], type);
  op.c = result(values.items[3], type);
  op.aux = (dimensions == 2 ? kFetchTwoDimensions : 0) |
           (coordinate == Type::f32 ? kFetchByFloats : 0) |
           (type == Type::f32 ? kFetchFloatResult : 0);
  emit({&op_fetch_texture, &op_fetch_texture}, op);
  return true;
}

}  // namespace assay::emulator
