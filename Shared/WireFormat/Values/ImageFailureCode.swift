/// Why no picture was made, as apps read it; a code that a later version adds is kept as it is.
public struct ImageFailureCode: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }
}

extension ImageFailureCode {
    /// Something of ours or of the generator's failed; another try may succeed.
    public static let processingFailed = ImageFailureCode(rawValue: "processing_failed")
    /// The generator refuses to work on this picture; another try would end the same way.
    public static let contentBlocked = ImageFailureCode(rawValue: "content_blocked")
    /// The upload cannot be read as a picture.
    public static let invalidImage = ImageFailureCode(rawValue: "invalid_image")
    /// It was not done in time.
    public static let timeout = ImageFailureCode(rawValue: "timeout")
    /// The generator takes no more work for now; another try later may succeed.
    public static let unavailable = ImageFailureCode(rawValue: "service_unavailable")
}
