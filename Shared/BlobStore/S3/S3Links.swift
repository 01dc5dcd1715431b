internal import FoundationEssentials
internal import HTTPClient

/// Makes the links that an S3-compatible object store serves. See ``BlobLinks``.
public struct S3Links: BlobLinks {
    private let bucket: String
    private let presigner: S3Presigner

    /// Makes links with the credentials of a store, at the address by which phones reach it.
    public init(configuration: S3Configuration) {
        bucket = configuration.bucket
        presigner = S3Presigner(
            endpoint: configuration.publicEndpoint ?? configuration.endpoint, region: configuration.region,
            accessKeyID: configuration.accessKeyID, secretAccessKey: configuration.secretAccessKey)
    }

    /// See ``BlobLinks/link(to:expires:)``.
    public func link(to key: BlobKey, expires: Duration) -> String? {
        let seconds = min(max(1, expires.components.seconds), Int64(S3Presigner.maxSeconds))
        let now = Date()
        // Shared caches may keep the response until the link ends. `Expires` is an instant; a `max-age` would count from each fetch.
        let end = HTTPDate.string(now.addingTimeInterval(Double(seconds)))
        return presigner.link(
            toPath: "/\(bucket)/\(key.name)", seconds: Int(seconds), now: now,
            overrides: [("response-cache-control", "public"), ("response-expires", end)])
    }
}
