internal import FoundationEssentials
internal import HTTPClient

/// The address and settings of an S3-compatible object store.
public struct S3Configuration: Sendable {
    /// The URL of the store, without the bucket: `https://s3.eu-central-1.amazonaws.com`, `http://minio:9000`.
    public var endpoint: String
    /// The URL by which phones reach the store; nil means the endpoint.
    public var publicEndpoint: String?
    /// The bucket, which must exist.
    public var bucket: String
    /// The region that requests are signed for.
    public var region: String
    /// The public half of the credentials.
    public var accessKeyID: String
    /// The secret half of the credentials.
    public var secretAccessKey: String
    /// Whether the store is asked to encrypt media (SSE-S3). Some stores encrypt anyway, and some refuse such requests.
    public var asksForEncryption = true
    /// A PEM file of certificate authorities to trust in place of the system's.
    public var caFile: String?
    /// The directory of the unlinked files that hold objects, sealed, until they are complete and can be sent.
    public var spoolDirectory: String
    /// The most attempts of a request.
    public var maxAttempts = 4
    /// The wait before the second attempt; it doubles with each attempt and is shortened at random by up to half.
    public var retryDelay: Duration = .milliseconds(200)
    /// The time limit of one attempt.
    public var timeout: Duration = .seconds(60)
    /// The time without a byte in either direction after which an attempt ends and its connection is not used again.
    public var silenceLimit: Duration = .seconds(10)
    /// The most concurrent uploads; each holds its object in memory.
    public var maxConcurrentUploads = 4
    /// The most concurrent deletions.
    public var maxConcurrentDeletions = 8
    /// The most bytes of an object.
    public var maxObjectByteCount = 64 * 1024 * 1024

    /// Makes a configuration with the default limits; the default spool directory is the system's temporary one.
    public init(
        endpoint: String, bucket: String, region: String, accessKeyID: String, secretAccessKey: String,
        spoolDirectory: String? = nil
    ) {
        self.endpoint = endpoint
        self.bucket = bucket
        self.region = region
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.spoolDirectory = spoolDirectory ?? FileManager.default.temporaryDirectory.path
    }

    /// Returns whether a text is a valid endpoint: a scheme, a host, an optional port, and no path.
    public static func isEndpoint(_ text: String) -> Bool {
        text.wholeMatch(of: /https?:\/\/([A-Za-z0-9.\-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?/) != nil
    }

    /// Returns whether a text is a valid bucket name.
    public static func isBucket(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]/) != nil
    }

    /// Returns whether a text is a valid region name.
    public static func isRegion(_ text: String) -> Bool { text.wholeMatch(of: /[a-z0-9\-]{1,64}/) != nil }

    var httpClient: HTTPClientConfiguration {
        var http = HTTPClientConfiguration()
        http.allowedSchemes = endpoint.hasPrefix("http://") ? ["http"] : ["https"]
        http.caFile = caFile
        http.maxConnectionsPerHost = 16
        http.silenceLimit = silenceLimit
        http.maxResponseBodyByteCount = S3Client.maxResponseByteCount
        return http
    }
}
