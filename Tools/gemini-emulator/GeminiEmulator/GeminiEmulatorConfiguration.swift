/// What an emulator is started with.
public struct GeminiEmulatorConfiguration: Sendable {
    /// The address it binds to.
    public var host = "127.0.0.1"
    /// The port of its HTTP/1.1 listener; 0 lets the system choose.
    public var port = 0
    /// The API keys it knows.
    public var apiKeys: Set<String> = ["gemini-emulator-key"]
    /// The models it knows.
    public var models: Set<String> = [
        "gemini-2.5-flash-image", "gemini-3-pro-image-preview", "gemini-3.1-flash-image", "gemini-3.1-flash-lite-image",
    ]
    /// Pixels of the longer side of the pictures it makes; the real one makes 1024.
    public var pictureSide = 256
    /// The most bytes of a request, which is what Google says of itself.
    public var requestByteCountMax = 20_971_520
    /// How many calls are remembered; the oldest go first.
    public var callsMax = 10_000
    /// How many behaviours may wait their turn.
    public var behavioursMax = 1_000
    /// The longest an answer may be held back, in seconds.
    public var delaySecondsMax = 600

    /// The default configuration.
    public init() {}
}
