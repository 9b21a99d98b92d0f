//! Effects: what an op does besides computing its results.

/// The side effect of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// No effect that another op could observe.
    None,
    /// An effect that keeps program order among the ops of the same class: `io`, `random`, the name
    /// of a resource.
    Ordered(&'static str),
    /// No effect, but the results depend on the effects of this class: the op is ordered with them,
    /// but not with others that only read. It may be removed if its results are unused.
    Reads(&'static str),
}

impl Effect {
    /// The default class of side effects.
    pub const IO: Self = Self::Ordered("io");
    /// The class of draws from a shared source of random numbers.
    pub const RANDOM: Self = Self::Ordered("random");

    /// Returns the class within which program order is kept, if the op has or reads effects.
    ///
    /// ```
    /// use tfrt_ods::Effect;
    ///
    /// assert_eq!(Effect::None.class(), None);
    /// assert_eq!(Effect::Reads("clock").class(), Effect::Ordered("clock").class());
    /// ```
    #[must_use]
    pub const fn class(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Ordered(class) | Self::Reads(class) => Some(class),
        }
    }
}
