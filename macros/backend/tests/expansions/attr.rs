#[derive(Attr)]
pub enum Padding {
    Same,
    #[attr("VALID")]
    Valid = 3,
}
