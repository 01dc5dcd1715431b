public import ImageProbe

/// A picture file that this module wrote: upright, sRGB, eight bits a band, without metadata.
public struct EncodedPicture: Sendable, Equatable {
    /// The file.
    public let bytes: [UInt8]
    /// Its format, which also determines its MIME type and file extension.
    public let format: ImageFormat
    /// Pixels across.
    public let width: Int
    /// Pixels down.
    public let height: Int

    /// Creates a picture from its file, which is not checked.
    public init(bytes: [UInt8], format: ImageFormat, width: Int, height: Int) {
        self.bytes = bytes
        self.format = format
        self.width = width
        self.height = height
    }
}
