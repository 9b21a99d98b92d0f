#[automatically_derived]
impl ::tfrt::__private::AttrParam for Padding {
    type Value<'a> = Self;
    const KIND: ::tfrt::__private::AttrKind = ::tfrt::__private::AttrKind::Enum(
        &::tfrt::__private::EnumDef {
            cases: &[
                ::tfrt::__private::EnumCase {
                    keyword: "same",
                    value: Self::Same as i128,
                },
                ::tfrt::__private::EnumCase {
                    keyword: "VALID",
                    value: Self::Valid as i128,
                },
            ],
            ..::tfrt::__private::EnumDef::new("Padding")
        },
    );
    fn read(
        section: &[u8],
        offset: u32,
    ) -> ::tfrt::__private::Result<Self, ::tfrt::__private::Error> {
        let number = <i32 as ::tfrt::__private::AttrParam>::read(section, offset)?;
        if number == Self::Same as i32 {
            return ::tfrt::__private::Ok(Self::Same);
        }
        if number == Self::Valid as i32 {
            return ::tfrt::__private::Ok(Self::Valid);
        }
        ::tfrt::__private::Err(::tfrt::__private::no_case("Padding", number))
    }
}
#[automatically_derived]
impl ::tfrt::__private::ToOpAttr for Padding {
    fn to_argument(&self) -> ::tfrt::__private::OpAttrArgument<'_> {
        let number = match self {
            Self::Same => Self::Same as i32,
            Self::Valid => Self::Valid as i32,
        };
        ::tfrt::__private::OpAttrArgument::Scalar(::tfrt::__private::Scalar::i32(number))
    }
}
