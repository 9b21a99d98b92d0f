#[automatically_derived]
impl self::runtime::__private::AttrParam for Side {
    type Value<'a> = Self;
    const KIND: self::runtime::__private::AttrKind = self::runtime::__private::AttrKind::Enum(
        &self::runtime::__private::EnumDef {
            cases: &[
                self::runtime::__private::EnumCase {
                    keyword: "left",
                    value: Self::Left as i128,
                },
            ],
            ..self::runtime::__private::EnumDef::new("Side")
        },
    );
    fn read(
        section: &[u8],
        offset: u32,
    ) -> self::runtime::__private::Result<Self, self::runtime::__private::Error> {
        let number = <i32 as self::runtime::__private::AttrParam>::read(
            section,
            offset,
        )?;
        if number == Self::Left as i32 {
            return self::runtime::__private::Ok(Self::Left);
        }
        self::runtime::__private::Err(self::runtime::__private::no_case("Side", number))
    }
}
#[automatically_derived]
impl self::runtime::__private::ToOpAttr for Side {
    fn to_argument(&self) -> self::runtime::__private::OpAttrArgument<'_> {
        let number = match self {
            Self::Left => Self::Left as i32,
        };
        self::runtime::__private::OpAttrArgument::Scalar(
            self::runtime::__private::Scalar::i32(number),
        )
    }
}
