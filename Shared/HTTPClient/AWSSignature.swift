/// Whom a request is signed as, by Amazon's Signature Version 4, which S3 and its kin ask for.
///
/// The signing is libcurl's own, and version 7.88 leaves some of it to the caller: the query must be sorted by name, every
/// name with its `=`, all of it encoded; and `x-amz-content-sha256` must be there with the body's digest.
public struct AWSSignature: Sendable {
    /// The region, such as `eu-central-1`.
    public var region: String
    /// The service, such as `s3`.
    public var service: String
    /// The public half of the credentials.
    public var accessKeyID: String
    /// The secret half of the credentials; it is not sent.
    public var secretAccessKey: String

    /// Makes a signature of credentials.
    public init(region: String, service: String, accessKeyID: String, secretAccessKey: String) {
        self.region = region
        self.service = service
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
    }

    /// Says what is wrong with it, or nil.
    var fault: String? {
        let isWord = { (text: String) in
            !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        }
        if !isWord(region) || !isWord(service) || !isWord(accessKeyID) { return "the region, service or access key is no word" }
        return secretAccessKey.isEmpty || secretAccessKey.utf8.contains(0) ? "the secret access key is empty" : nil
    }

    /// What libcurl is told of it.
    var scope: String { "aws:amz:\(region):\(service)" }
}
