public import HTTPClient

/// How Gemini is asked.
public struct GeminiConfiguration: Sendable {
    /// The sizes a model may be asked for, by the longer side.
    public enum ImageSize: String, Sendable, CaseIterable {
        /// About 1024 pixels: what every model makes when it is not asked for more.
        case oneK = "1K"
        /// About 2048 pixels.
        case twoK = "2K"
        /// About 4096 pixels.
        case fourK = "4K"
    }

    /// The most bytes of a request, the limit Google sets for pictures inside it.
    public static let requestByteCountMax = 20_000_000
    /// The most bytes of an answer: a 4K PNG in base64, and then some.
    public static let responseByteCountMax = 48 * 1024 * 1024
    /// The most bytes of the picture in an answer.
    public static let imageByteCountMax = 32 * 1024 * 1024

    /// The API key; it goes into one header and nowhere else.
    public var apiKey: String
    /// The model's name, such as the one Google's documentation gives for image generation.
    public var model: String
    /// Where Gemini is, without a path; another address than https must be on this machine.
    public var baseURL = "https://generativelanguage.googleapis.com"
    /// A PEM file of the authorities to trust in place of the system's.
    public var caFile: String?
    /// The largest size the model can be asked for; with `oneK` it is never asked, as some models refuse the question.
    public var imageSizeMax: ImageSize = .oneK
    /// How long one call may take, whatever the job's deadline is.
    public var timeout: Duration = .seconds(180)

    /// The configuration for the real Gemini.
    public init(apiKey: String, model: String) {
        self.apiKey = apiKey
        self.model = model
    }

    /// The configuration of the HTTP client a generator is to be given.
    public var httpClient: HTTPClientConfiguration {
        var http = HTTPClientConfiguration()
        http.caFile = caFile
        http.responseBodyByteCountMax = Self.responseByteCountMax
        if baseURL.hasPrefix("http://") { http.allowedSchemes = ["http"] }
        return http
    }
}
