//! The messages, as TensorFlow defines them.

use std::collections::BTreeMap;

use prost::Message;

/// `tensorflow.Example`: named features.
///
/// ```
/// use prost::Message;
/// use tfrt_readers::example::{Example, Feature};
///
/// let example = Example::of([("label", Feature::int64([7])), ("name", Feature::bytes(["seven"]))]);
/// let bytes = example.encode_to_vec();
/// assert_eq!(Example::decode(&bytes[..])?, example);
/// assert_eq!(example.feature("label"), Some(&Feature::int64([7])));
/// # Ok::<(), prost::DecodeError>(())
/// ```
#[derive(Clone, PartialEq, Message)]
pub struct Example {
    /// The features.
    #[prost(message, optional, tag = "1")]
    pub features: Option<Features>,
}

impl Example {
    /// An example of these features.
    pub fn of<N: Into<String>>(features: impl IntoIterator<Item = (N, Feature)>) -> Self {
        let features = features.into_iter();
        Self {
            features: Some(Features {
                feature: features
                    .map(|(name, feature)| (name.into(), feature))
                    .collect(),
            }),
        }
    }

    /// The message as bytes, as a record holds it.
    ///
    /// ```
    /// use tfrt_readers::example::{Example, Feature};
    /// use tfrt_readers::tfrecord::{RecordReader, RecordWriter};
    ///
    /// let example = Example::of([("label", Feature::int64([7]))]);
    /// let mut writer = RecordWriter::new(Vec::new());
    /// writer.write(&example.to_bytes())?;
    /// let file = writer.finish()?;
    /// let records: Vec<Vec<u8>> = RecordReader::new(&file[..]).collect::<Result<_, _>>()?;
    /// assert_eq!(records, [example.to_bytes()]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.encode_to_vec()
    }

    /// The feature of a name.
    #[must_use]
    pub fn feature(&self, name: &str) -> Option<&Feature> {
        self.features.as_ref()?.feature.get(name)
    }
}

/// `tensorflow.SequenceExample`: named features, and named lists of features.
#[derive(Clone, PartialEq, Message)]
pub struct SequenceExample {
    /// What holds for the whole sequence.
    #[prost(message, optional, tag = "1")]
    pub context: Option<Features>,
    /// What holds for each step.
    #[prost(message, optional, tag = "2")]
    pub feature_lists: Option<FeatureLists>,
}

/// `tensorflow.Features`
#[derive(Clone, PartialEq, Message)]
pub struct Features {
    /// By name.
    #[prost(btree_map = "string, message", tag = "1")]
    pub feature: BTreeMap<String, Feature>,
}

/// `tensorflow.FeatureLists`
#[derive(Clone, PartialEq, Message)]
pub struct FeatureLists {
    /// By name.
    #[prost(btree_map = "string, message", tag = "1")]
    pub feature_list: BTreeMap<String, FeatureList>,
}

/// `tensorflow.FeatureList`: a feature for each step.
#[derive(Clone, PartialEq, Message)]
pub struct FeatureList {
    /// The steps.
    #[prost(message, repeated, tag = "1")]
    pub feature: Vec<Feature>,
}

/// `tensorflow.Feature`: values of one type.
#[derive(Clone, PartialEq, Message)]
pub struct Feature {
    /// The values; none at all if there is nothing.
    #[prost(oneof = "Kind", tags = "1, 2, 3")]
    pub kind: Option<Kind>,
}

impl Feature {
    /// Byte strings.
    pub fn bytes<V: Into<Vec<u8>>>(values: impl IntoIterator<Item = V>) -> Self {
        let value = values.into_iter().map(Into::into).collect();
        Self {
            kind: Some(Kind::Bytes(BytesList { value })),
        }
    }

    /// Floats.
    pub fn float(values: impl IntoIterator<Item = f32>) -> Self {
        let value = values.into_iter().collect();
        Self {
            kind: Some(Kind::Float(FloatList { value })),
        }
    }

    /// Integers.
    pub fn int64(values: impl IntoIterator<Item = i64>) -> Self {
        let value = values.into_iter().collect();
        Self {
            kind: Some(Kind::Int64(Int64List { value })),
        }
    }
}

/// The values of a feature, all of one type.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Kind {
    /// Byte strings.
    #[prost(message, tag = "1")]
    Bytes(BytesList),
    /// Floats.
    #[prost(message, tag = "2")]
    Float(FloatList),
    /// Integers.
    #[prost(message, tag = "3")]
    Int64(Int64List),
}

impl Kind {
    /// How many values there are, and what they are called.
    #[must_use]
    pub fn describe(&self) -> (usize, &'static str) {
        match self {
            Self::Bytes(list) => (list.value.len(), "bytes"),
            Self::Float(list) => (list.value.len(), "float"),
            Self::Int64(list) => (list.value.len(), "int64"),
        }
    }
}

/// `tensorflow.BytesList`
#[derive(Clone, PartialEq, Message)]
pub struct BytesList {
    /// The values.
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub value: Vec<Vec<u8>>,
}

/// `tensorflow.FloatList`
#[derive(Clone, PartialEq, Message)]
pub struct FloatList {
    /// The values.
    #[prost(float, repeated, tag = "1")]
    pub value: Vec<f32>,
}

/// `tensorflow.Int64List`
#[derive(Clone, PartialEq, Message)]
pub struct Int64List {
    /// The values.
    #[prost(int64, repeated, tag = "1")]
    pub value: Vec<i64>,
}
