internal import FoundationEssentials
internal import HTTPClient

/// Where an object store is that speaks Amazon's protocol, and how it is used.
public struct S3Configuration: Sendable {
    /// The address of the store, without the bucket: `https://s3.eu-central-1.amazonaws.com`, `http://minio:9000`.
    public var endpoint: String
    /// The address under which phones reach the store, when it is another.
    public var publicEndpoint: String?
    /// The bucket, which must exist.
    public var bucket: String
    /// The region that requests are signed for.
    public var region: String
    /// The public half of the credentials.
    public var accessKeyID: String
    /// The secret half of the credentials.
    public var secretAccessKey: String
    /// Whether the store is asked to encrypt media (SSE-S3). Some do so anyway, and some refuse to be asked.
    public var asksForEncryption = true
    /// A PEM file of the authorities to trust in place of the system's.
    public var caFile: String?
    /// Where objects lie, sealed and without a name, until they are complete and can be sent.
    public var spoolDirectory: String
    /// How often a request is made at most before its failure counts.
    public var attemptsMax = 4
    /// The wait before the second attempt, which doubles with each; a random part of it is waited.
    public var retryDelay: Duration = .milliseconds(200)
    /// How long one attempt may take.
    public var timeout: Duration = .seconds(60)
    /// How many objects are sent at once: each is in memory while it is.
    public var uploadsMax = 4
    /// How many objects are deleted at once.
    public var deletionsMax = 8
    /// The most bytes of an object.
    public var objectByteCountMax = 64 * 1024 * 1024

    /// Makes a configuration with the default limits; without a spool directory, with the system's temporary one.
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

    /// Whether a text can be an endpoint: a scheme, a host, maybe a port, and nothing behind it.
    public static func isEndpoint(_ text: String) -> Bool {
        text.wholeMatch(of: /https?:\/\/([A-Za-z0-9.\-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?/) != nil
    }

    /// Whether a text can be the name of a bucket.
    public static func isBucket(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]/) != nil
    }

    /// Whether a text can be the name of a region.
    public static func isRegion(_ text: String) -> Bool { text.wholeMatch(of: /[a-z0-9\-]{1,64}/) != nil }

    var httpClient: HTTPClientConfiguration {
        var http = HTTPClientConfiguration()
        http.allowedSchemes = endpoint.hasPrefix("http://") ? ["http"] : ["https"]
        http.caFile = caFile
        http.connectionsPerHostMax = 16
        http.responseBodyByteCountMax = S3Client.answerByteCountMax
        return http
    }
}
