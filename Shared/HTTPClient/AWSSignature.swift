/// The credentials and scope of AWS Signature Version 4, which S3 and compatible stores require.
///
/// libcurl signs, and version 7.88 leaves a part to the caller: the query must be encoded and sorted by name, with an `=` after
/// every name, and the header `x-amz-content-sha256` must be set to the body's digest.
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

    /// The fault of the signature, or nil when it is valid.
    var fault: String? {
        let isWord = { (text: String) in
            !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        }
        if !isWord(region) || !isWord(service) || !isWord(accessKeyID) {
            return "the region, service or access key is empty or has invalid characters"
        }
        return secretAccessKey.isEmpty || secretAccessKey.utf8.contains(0) ? "the secret access key is empty or contains a NUL" : nil
    }

    /// The value of `CURLOPT_AWS_SIGV4`.
    var scope: String { "aws:amz:\(region):\(service)" }
}
