// Generated from the declarations of kernels. Changes belong there.

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// An op of the runtime, with what MLIR has no word for.
class TFRT_Op<Dialect dialect, string mnemonic, list<Trait> traits = []> : Op<dialect, mnemonic, traits> {
  // The class within which program order is kept; empty if there is none.
  string effectClass = "";
  // Where the op runs: "inline", "async", "blocking", "sync", "terminator" or "nowhere".
  string execution = "inline";
  // The traits of the declaration.
  list<string> runtimeTraits = [];
  // Operands that may come later when the op runs non-strictly.
  list<string> references = [];
  // Results that share memory with an operand: "result = operand".
  list<string> aliases = [];
  // How programs write the op, where that is not a format of MLIR.
  string runtimeFormat = "";
  // Where the op is declared.
  string sourceFile = "";
  int sourceLine = 0;
}

// A type that only its spelling tells.
class TFRT_SpelledType<string spelling> :
    Type<CPred<"$_self == ::mlir::parseType(\"" # spelling # "\", $_self.getContext())">, "'" # spelling # "'">,
    BuildableType<"::mlir::parseType(\"" # spelling # "\", $_builder.getContext())">;

def TFRT_F16Attr : FloatAttrBase<F16, "16-bit float attribute">;
def TFRT_BF16Attr :
    TypedAttrBase<BF16, "FloatAttr",
                  And<[CPred<"::llvm::isa<::mlir::FloatAttr>($_self)">,
                       CPred<"::llvm::cast<::mlir::FloatAttr>($_self).getType().isBF16()">]>,
                  "bfloat16 attribute"> {
  let storageType = "::mlir::FloatAttr";
  let returnType = "::llvm::APFloat";
}

def Algebra_Dialect : Dialect {
  let name = "algebra";
  let cppNamespace = "::algebra";
  let summary = "Matrices & what one does with them.";
  let description = "A text with \"quotes\", a \\ and the end of a block: }].";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

def AlgebraSync_Dialect : Dialect {
  let name = "algebra_sync";
  let cppNamespace = "::algebra_sync";
}

def New_Dialect : Dialect {
  let name = "new";
  let cppNamespace = "::new_";
  let useDefaultTypePrinterParser = 1;
}

def Other_Dialect : Dialect {
  let name = "other";
  let cppNamespace = "::other";
}

def Tfrt_Dialect : Dialect {
  let name = "tfrt";
  let cppNamespace = "::tfrt";
  let useDefaultTypePrinterParser = 1;
}

def Algebra_MatrixType : TypeDef<Algebra_Dialect, "Matrix"> {
  let mnemonic = "matrix";
}

def Algebra_UnusedTypeType : TypeDef<Algebra_Dialect, "UnusedType"> {
  let mnemonic = "unused.type";
}

def New_WhileType : TypeDef<New_Dialect, "While"> {
  let mnemonic = "while";
}

def Tfrt_ChainType : TypeDef<Tfrt_Dialect, "Chain"> {
  let mnemonic = "chain";
}

// `#algebra.shape<2x?x3>`, `<>` of rank 0, `<*>` of unknown rank. A size that is not known is -1.
def Algebra_ShapeAttr : AttrDef<Algebra_Dialect, "Shape"> {
  let mnemonic = "shape";
  let parameters = (ins "bool":$ranked, ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
}

def Algebra_PaddingAttr : I32EnumAttr<"Padding", "", [
  I32EnumAttrCase<"Same", 0, "same">,
  I32EnumAttrCase<"ValidOnly", -3, "valid_only">
]> {
  let cppNamespace = "::algebra";
}

def Algebra_ModeAttr : IntEnumAttr<I8, "Mode", "", [
  IntEnumAttrCaseBase<I8, "Max", "max", 1>
]> {
  let cppNamespace = "::algebra";
  // That of the integers in custom forms.
  string integerType = "si8";
}

// algebra

def Algebra_AddF32Op : TFRT_Op<Algebra_Dialect, "add.f32", [Pure]> {
  let summary = "Returns the sum of two numbers.";
  let description = [{
    # Errors
    Never.

    ```text
    # no heading
    ```
  }];
  let arguments = (ins F32:$a, F32:$b);
  let results = (outs F32:$sum);
  let assemblyFormat = "$a `,` $b attr-dict";
  let runtimeTraits = ["pure"];
  let sourceFile = "src/add.rs";
  let sourceLine = 7;
}

def Algebra_AddI32Op : TFRT_Op<Algebra_Dialect, "add.i32", [Pure]> {
  let summary = "Returns the sum of two numbers.";
  let description = [{
    # Errors
    Never.

    ```text
    # no heading
    ```
  }];
  let arguments = (ins I32:$a, I32:$b);
  let results = (outs I32:$sum);
  let assemblyFormat = "$a `,` $b attr-dict";
  let runtimeTraits = ["pure"];
  let sourceFile = "src/add.rs";
  let sourceLine = 7;
}

def Algebra_AttributesOp : TFRT_Op<Algebra_Dialect, "attributes", []> {
  let summary = "Has an attribute of every kind.";
  let arguments = (ins BoolAttr:$a_bool, DefaultValuedAttr<BoolAttr, "true">:$b_bool, I16Attr:$c_i16, DefaultValuedAttr<UI64Attr, "18446744073709551615ULL">:$d_ui64, DefaultValuedAttr<I32Attr, "-1">:$e_i32, TFRT_BF16Attr:$f_bf16, TFRT_F16Attr:$g_f16, DefaultValuedAttr<F32Attr, "1e-5">:$h_f32, DefaultValuedAttr<F64Attr, "-std::numeric_limits<double>::infinity()">:$i_f64, DefaultValuedStrAttr<StrAttr, "a \\\"b\\\" \\\\ c\\n">:$j_text, TypeAttr:$k_type, DefaultValuedAttr<TypedArrayAttrBase<I64Attr, "list, each element i64">, "{}">:$l_list, TypedArrayAttrBase<TypedArrayAttrBase<StrAttr, "list, each element a text">, "list, each element a list, each element a text">:$m_lists, ArrayAttr:$n_aggregate, ElementsAttr:$o_dense, Algebra_ShapeAttr:$p_shape, SymbolRefAttr:$q_unit, DefaultValuedAttr<Algebra_PaddingAttr, "::algebra::Padding::ValidOnly">:$r_enum, Algebra_ModeAttr:$s_small_enum, AnyAttr:$t_any, OptionalAttr<I64Attr>:$u_optional);
}

def Algebra_AwaitOp : TFRT_Op<Algebra_Dialect, "await", []> {
  let summary = "Waits for a matrix.";
  let arguments = (ins Algebra_MatrixType:$matrix);
  let execution = "async";
  let runtimeTraits = ["cost_attribute", "async"];
}

def Algebra_ChooseOp : TFRT_Op<Algebra_Dialect, "choose", [Pure, AllTypesMatch<["a", "b"]>, AllTypesMatch<["a", "chosen"]>]> {
  let summary = "Returns one of two values, without waiting for the other one.";
  let arguments = (ins I1:$condition, AnyType:$a, AnyType:$b);
  let results = (outs AnyType:$chosen);
  let assemblyFormat = "$condition `?` $a `:` $b attr-dict `->` type($a)";
  let runtimeTraits = ["pure", "non_strict"];
  let references = ["a", "b"];
}

def Algebra_ConstantF64Op : TFRT_Op<Algebra_Dialect, "constant.f64", [Pure]> {
  let summary = "Returns a number.";
  let arguments = (ins F64Attr:$value);
  let results = (outs F64:$number);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
  let execution = "nowhere";
  let runtimeTraits = ["pure", "constant"];
  let sourceFile = "src/dialects.rs";
  let sourceLine = 3;
}

def Algebra_ConvertOp : TFRT_Op<Algebra_Dialect, "convert", [PredOpTrait<"out are of the type of like", CPred<"::llvm::all_of($out.getTypes(), [&](::mlir::Type type) { return type == $like.getType(); })">>]> {
  let summary = "Takes the first values | returns as many of the type of the last one.";
  let arguments = (ins Variadic<TFRT_SpelledType<"memref<4xf32>">>:$values, AnyType:$like);
  let results = (outs Variadic<AnyType>:$out);
  let runtimeTraits = ["cheap"];
}

def Algebra_GroupsOp : TFRT_Op<Algebra_Dialect, "groups", []> {
  let summary = "Is written in groups.";
  let arguments = (ins Optional<I64>:$other, I64:$one, DefaultValuedAttr<I32Attr, "1">:$times);
  let results = (outs I64:$sum);
  let assemblyFormat = "$one `` `[` (`plus` $other^) : (`alone`)? `]` (`times` $times^)? attr-dict";
}

def Algebra_LogOp : TFRT_Op<Algebra_Dialect, "log", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Logs.";
  let arguments = (ins Optional<Tfrt_ChainType>:$extra_chain);
  let effectClass = "io";
  let runtimeTraits = ["extra_chain"];
}

def Algebra_NamesOp : TFRT_Op<Algebra_Dialect, "names", [IsolatedFromAbove]> {
  let summary = "Has names that C++ keeps for itself, and one name twice.";
  let arguments = (ins UI8:$class_, SI<4>:$value, I32Attr:$value_);
  let results = (outs NoneType:$value__, New_WhileType:$class__);
  let regions = (region AnyRegion:$while_);
  let runtimeTraits = ["isolated"];
}

def Algebra_PadOp : TFRT_Op<Algebra_Dialect, "pad", []> {
  let summary = "Pads.";
  let arguments = (ins Algebra_MatrixType:$matrix, Algebra_PaddingAttr:$padding, TypedArrayAttrBase<I64Attr, "list, each element i64">:$sizes);
  let results = (outs Algebra_MatrixType:$padded);
  let assemblyFormat = "$matrix $padding $sizes attr-dict";
}

def Algebra_PairsOp : TFRT_Op<Algebra_Dialect, "pairs", [IsolatedFromAbove]> {
  let summary = "Is written as no format of MLIR can.";
  let arguments = (ins Variadic<AnyType>:$arguments, I32Attr:$count, ArrayAttr:$options, DefaultValuedAttr<I32Attr, "1">:$times);
  let results = (outs Variadic<I1>:$out);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let runtimeFormat = "`(` typed-operands($arguments) `)` pairs($options) key-values($count, $times) attr-dict-or-keyword (`:` result-count($out))? (`in` region($body, $arguments) | empty-region($body, \"tfrt.return\"))";
}

def Algebra_PollOp : TFRT_Op<Algebra_Dialect, "poll", [MemoryEffects<[MemRead]>]> {
  let summary = "Counts what was sent.";
  let arguments = (ins Optional<Tfrt_ChainType>:$in_chain);
  let results = (outs I64:$count, Optional<Tfrt_ChainType>:$out_chain);
  let effectClass = "network";
  let runtimeTraits = ["optional_chain"];
}

def Algebra_RepeatOp : TFRT_Op<Algebra_Dialect, "repeat", [IsolatedFromAbove]> {
  let summary = "Runs a region again and again.";
  let arguments = (ins Index:$count, Variadic<AnyType>:$arguments, FlatSymbolRefAttr:$callee, FlatSymbolRefArrayAttr:$others);
  let results = (outs Variadic<AnyType>:$values);
  let regions = (region AnyRegion:$body, AnyRegion:$last);
  let assemblyFormat = "$count (`,` $arguments^)? $callee $others attr-dict-with-keyword `:` functional-type($arguments, $values) $body $last";
  let hasVerifier = 1;
  let runtimeTraits = ["named_results", "call"];
}

def Algebra_SameName2Op : TFRT_Op<Algebra_Dialect, "same.name_2", []> {
}

def Algebra_SameName2Op_2 : TFRT_Op<Algebra_Dialect, "same_name.2", []> {
}

def Algebra_ScaleOp : TFRT_Op<Algebra_Dialect, "scale", [AllTypesMatch<["matrix", "scaled"]>]> {
  let summary = "Scales a matrix in place.";
  let arguments = (ins Arg<Algebra_MatrixType, "written into", [MemRead, MemWrite]>:$matrix, Optional<AnyTypeOf<[F32, Complex<F64>, BF16]>>:$by, Tfrt_ChainType:$in_chain);
  let results = (outs AnyType:$scaled, Tfrt_ChainType:$out_chain);
  let aliases = ["scaled = matrix"];
}

def Algebra_SendOp : TFRT_Op<Algebra_Dialect, "send", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Sends a matrix.";
  let arguments = (ins Algebra_MatrixType:$matrix, Optional<Tfrt_ChainType>:$in_chain);
  let results = (outs Optional<Tfrt_ChainType>:$out_chain);
  let effectClass = "network";
  let execution = "blocking";
  let runtimeTraits = ["blocking", "optional_chain"];
}

// algebra_sync

def AlgebraSync_AddOp : TFRT_Op<AlgebraSync_Dialect, "add", []> {
  let summary = "Returns the sum of two numbers.";
  let description = [{
    # Errors
    Never.

    ```text
    # no heading
    ```
  }];
  let arguments = (ins I32:$a, I32:$b);
  let results = (outs I32:$sum);
  let assemblyFormat = "$a `,` $b attr-dict";
  let execution = "sync";
  let runtimeTraits = ["sync"];
}

// other

def Other_OpaqueOp : TFRT_Op<Other_Dialect, "opaque", []> {
  let execution = "nowhere";
}

// tfrt

def Tfrt_JoinOp : TFRT_Op<Tfrt_Dialect, "join", [Pure]> {
  let summary = "Joins chains.";
  let arguments = (ins Variadic<AnyType>:$values);
  let results = (outs Tfrt_ChainType:$chain);
  let assemblyFormat = "$values attr-dict `:` type($values)";
  let runtimeTraits = ["pure", "chain_merge"];
}

def Tfrt_ReturnOp : TFRT_Op<Tfrt_Dialect, "return", [Terminator]> {
  let summary = "Ends a function.";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let execution = "terminator";
  let runtimeTraits = ["terminator"];
}

def Tfrt_StartOp : TFRT_Op<Tfrt_Dialect, "start", [Pure]> {
  let summary = "Starts a chain.";
  let results = (outs Tfrt_ChainType:$chain);
  let assemblyFormat = "attr-dict";
  let runtimeTraits = ["pure", "chain_source"];
}
