/// The limits of a ``MultipartParser`` for everything except part data.
///
/// Part data is not limited here: the parser does not buffer it, so the caller that stores it has to count it.
public struct MultipartLimits: Sendable, Equatable {
    /// Bytes of one part's header block, its blank line included.
    public var headerBytes: Int
    /// Header lines of one part.
    public var headerLines: Int
    /// Parts of one body.
    public var parts: Int
    /// Bytes before the first boundary, which are discarded.
    public var preambleBytes: Int
    /// Spaces and tabs between a boundary and the end of its line.
    public var paddingBytes: Int

    /// Creates limits; the defaults are far above what any browser or HTTP library sends.
    public init(
        headerBytes: Int = 8 * 1024, headerLines: Int = 16, parts: Int = 64, preambleBytes: Int = 8 * 1024,
        paddingBytes: Int = 128
    ) {
        self.headerBytes = headerBytes
        self.headerLines = headerLines
        self.parts = parts
        self.preambleBytes = preambleBytes
        self.paddingBytes = paddingBytes
    }
}
