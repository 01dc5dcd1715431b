/// The configuration of an emulator.
public struct GeminiEmulatorConfiguration: Sendable {
    /// The address it binds to.
    public var host = "127.0.0.1"
    /// The port of its HTTP/1.1 listener; 0 lets the system choose.
    public var port = 0
    /// The API keys it accepts.
    public var apiKeys: Set<String> = ["gemini-emulator-key"]
    /// The models it offers.
    public var models: Set<String> = [
        "gemini-2.5-flash-image", "gemini-3-pro-image-preview", "gemini-3.1-flash-image", "gemini-3.1-flash-lite-image",
    ]
    /// Longer side of the pictures it makes, in pixels; Google's have 1024.
    public var pictureSide = 256
    /// Maximum size of a request, in bytes: Google's documented limit.
    public var maxRequestBytes = 20_971_520
    /// Maximum number of recorded calls; the oldest are removed first.
    public var maxCalls = 10_000
    /// Maximum number of behaviours that are not used up.
    public var maxBehaviours = 1_000
    /// Maximum delay of an answer, in seconds.
    public var maxDelaySeconds = 600

    /// The default configuration.
    public init() {}
}
