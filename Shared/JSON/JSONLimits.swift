/// The limits of a JSON text that is read whole.
public struct JSONLimits: Sendable, Equatable {
    /// The maximum nesting of arrays and objects.
    public var maxDepth: Int
    /// The maximum number of values, nested ones included.
    public var maxValues: Int
    /// The maximum number of bytes of a string that is decoded; a longer one is a ``JSONValue/slice(_:)``, and
    /// a ``JSONElement`` without a text.
    public var maxStringBytes: Int
    /// Whether faults inside of values are accepted, for an answer that was paid for: a string that cannot be decoded is a
    /// ``JSONValue/slice(_:)``, of repeated names the first counts, a number may be out of range. The structure is checked all the same.
    public var isLenient: Bool
    /// Whether an object may have a name twice; of repeated names the first is found.
    public var allowsRepeatedNames: Bool
    /// Whether a number may exceed the range of `Double`, such as 1e999 in an unused field. It is kept as it is spelled.
    public var allowsNumbersOutOfRange: Bool

    /// Creates limits; the defaults are those of a small request.
    public init(
        maxDepth: Int = 16, maxValues: Int = 100_000, maxStringBytes: Int = .max, isLenient: Bool = false,
        allowsRepeatedNames: Bool = false, allowsNumbersOutOfRange: Bool = false
    ) {
        self.maxDepth = maxDepth
        self.maxValues = maxValues
        self.maxStringBytes = maxStringBytes
        self.isLenient = isLenient
        self.allowsRepeatedNames = allowsRepeatedNames
        self.allowsNumbersOutOfRange = allowsNumbersOutOfRange
    }
}
