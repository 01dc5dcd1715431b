public import HTTPClient

/// The configuration of the Gemini generator.
public struct GeminiConfiguration: Sendable {
    /// The sizes that can be requested of a model, by the longer side.
    public enum ImageSize: String, Sendable, CaseIterable {
        /// About 1024 pixels: the default size of every model.
        case oneK = "1K"
        /// About 2048 pixels.
        case twoK = "2K"
        /// About 4096 pixels.
        case fourK = "4K"
    }

    /// Maximum size of a request in bytes: Google's limit for requests with inline pictures.
    public static let maxRequestByteCount = 20_000_000
    /// Maximum size of an answer in bytes: a 4K PNG in base64 with some reserve.
    public static let maxResponseByteCount = 48 * 1024 * 1024
    /// Maximum size of the picture in an answer, in bytes.
    public static let maxImageByteCount = 32 * 1024 * 1024

    /// The API key; it is sent in one header and used nowhere else.
    public var apiKey: String
    /// The name of an image generation model, as in Google's documentation.
    public var model: String
    /// The URL of Gemini without a path; a URL without TLS must be on this machine.
    public var baseURL = "https://generativelanguage.googleapis.com"
    /// A PEM file of the certificate authorities to trust instead of the system's.
    public var caFile: String?
    /// The largest size requested of the model; with `oneK` no size is sent, because some models reject the field.
    public var maxImageSize: ImageSize = .oneK
    /// The timeout of one call; the job's deadline may end it earlier.
    public var timeout: Duration = .seconds(180)

    /// Creates a configuration for Google's service.
    public init(apiKey: String, model: String) {
        self.apiKey = apiKey
        self.model = model
    }

    /// The configuration of the HTTP client that a generator needs.
    public var httpClient: HTTPClientConfiguration {
        var http = HTTPClientConfiguration()
        http.caFile = caFile
        http.maxResponseBodyByteCount = Self.maxResponseByteCount
        // The service sends no bytes while it generates.
        http.silenceLimit = timeout
        if baseURL.hasPrefix("http://") { http.allowedSchemes = ["http"] }
        return http
    }
}
