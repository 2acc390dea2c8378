//! A datatype as plain data.

/// A datatype, with everything it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Bytes of an element in memory; for numbers and compounds in the file as well.
    pub size: usize,
    /// What an element is.
    pub class: TypeClass,
}

/// What an element of a datatype is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeClass {
    /// An integer.
    Integer {
        /// Byte order.
        order: ByteOrder,
        /// Whether it is in two's complement.
        signed: bool,
        /// Bits that carry the value.
        precision: usize,
        /// Bits below them.
        offset: usize,
    },
    /// A floating point number.
    Float(Float),
    /// A time (`H5T_TIME`), of no defined meaning.
    Time {
        /// Byte order.
        order: ByteOrder,
        /// Bits that carry the value.
        precision: usize,
    },
    /// A string in as many bytes as the element has.
    FixedString {
        /// How a short string is filled up.
        padding: StringPadding,
        /// Its characters.
        charset: CharacterSet,
    },
    /// A string of any length; a pointer in memory.
    VariableString {
        /// Its characters.
        charset: CharacterSet,
    },
    /// Bits without a number.
    Bitfield {
        /// Byte order.
        order: ByteOrder,
        /// Bits in use.
        precision: usize,
        /// Bits below them.
        offset: usize,
    },
    /// Bytes of which HDF5 knows nothing.
    Opaque {
        /// What the writer calls them.
        tag: String,
    },
    /// Members side by side.
    Compound {
        /// The members, in the order they were declared.
        members: Vec<Member>,
    },
    /// A reference to something in the file.
    Reference(Reference),
    /// Names for integers.
    Enumeration {
        /// The type of the integers.
        base: Box<Description>,
        /// The names, in the order they were declared.
        members: Vec<EnumMember>,
    },
    /// A sequence of any length; a length and a pointer in memory.
    VariableLength {
        /// What it is a sequence of.
        base: Box<Description>,
    },
    /// An array of fixed shape.
    Array {
        /// Elements an axis, slowest first.
        dims: Vec<u64>,
        /// What it is an array of.
        base: Box<Description>,
    },
    /// A complex number (HDF5 2.0): real part, then imaginary part.
    Complex {
        /// The type of a part.
        base: Box<Description>,
    },
}

/// Order of the bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
    /// Pairs of bytes in VAX order.
    Vax,
    /// None that is one for all parts, or none at all.
    None,
}

/// Where the parts of a floating point number are, in bits from the least significant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Float {
    /// Byte order.
    pub order: ByteOrder,
    /// Bits that carry the value.
    pub precision: usize,
    /// Bits below them.
    pub offset: usize,
    /// The sign bit.
    pub sign_position: usize,
    /// Lowest bit of the exponent.
    pub exponent_position: usize,
    /// Bits of the exponent.
    pub exponent_size: usize,
    /// What is added to the exponent.
    pub exponent_bias: usize,
    /// Lowest bit of the mantissa.
    pub mantissa_position: usize,
    /// Bits of the mantissa.
    pub mantissa_size: usize,
    /// The mantissa's highest bit.
    pub normalization: Normalization,
}

/// How a mantissa is normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalization {
    /// Its highest bit is 1 and not stored.
    Implied,
    /// Its highest bit is 1 and stored.
    MostSignificantBitSet,
    /// It is not.
    None,
}

/// How a string shorter than its element is filled up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StringPadding {
    /// It ends in a zero byte.
    NullTerminated,
    /// With zero bytes.
    NullPadded,
    /// With spaces.
    SpacePadded,
    /// In a way that HDF5 does not define.
    Reserved(u8),
}

/// Characters of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CharacterSet {
    /// ASCII.
    Ascii,
    /// UTF-8.
    Utf8,
    /// One that HDF5 does not define.
    Reserved(u8),
}

/// What a reference points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// An object, by the address of its header.
    Object,
    /// A region of a dataset, by an object of the global heap.
    Region,
    /// An object, region or attribute (HDF5 1.12); pointers in memory.
    Opaque,
}

/// A member of a compound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Bytes in front of it.
    pub offset: usize,
    /// Its type.
    pub datatype: Description,
}

/// A member of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumMember {
    /// Its name.
    pub name: String,
    /// The integer, as it is stored: an element of the base type.
    pub value: Vec<u8>,
}
