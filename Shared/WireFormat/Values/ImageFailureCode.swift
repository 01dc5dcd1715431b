/// The reason why an image job failed, as apps read it; codes of later versions are kept.
public struct ImageFailureCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code as the API and the database spell it, such as `content_blocked`.
    public let rawValue: String

    /// Creates a code from its spelling; codes that this build does not know are accepted.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The spelling of the code.
    public var description: String { rawValue }
}

extension ImageFailureCode {
    /// An internal failure, or a failure of the generator; another attempt may succeed.
    public static let processingFailed = ImageFailureCode(rawValue: "processing_failed")
    /// The generator refuses this picture; another attempt would end the same way.
    public static let contentBlocked = ImageFailureCode(rawValue: "content_blocked")
    /// The upload cannot be read as a picture.
    public static let invalidImage = ImageFailureCode(rawValue: "invalid_image")
    /// The job did not finish in time.
    public static let timeout = ImageFailureCode(rawValue: "timeout")
    /// The generator accepts no more work for now; a later attempt may succeed.
    public static let unavailable = ImageFailureCode(rawValue: "service_unavailable")

    /// All codes of this version.
    public static let known = [processingFailed, contentBlocked, invalidImage, timeout, unavailable]
}
