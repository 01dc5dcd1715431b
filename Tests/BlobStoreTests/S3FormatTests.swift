import Foundation
import Testing

@testable import BlobStore

@Suite struct S3FormatTests {
    /// The example of Amazon's documentation for signatures in queries.
    @Test func `A link is signed as in Amazon's example`() throws {
        let presigner = S3Presigner(
            endpoint: "https://examplebucket.s3.amazonaws.com", region: "us-east-1", accessKeyID: "AKIAIOSFODNN7EXAMPLE",
            secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        let now = try #require(ISO8601DateFormatter().date(from: "2013-05-24T00:00:00Z"))
        let link = presigner.link(toPath: "/test.txt", seconds: 86_400, now: now)
        #expect(
            link == "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
                + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
                + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
                + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
    }

    @Test(arguments: [
        ("https://s3.example:443", "https://s3.example"), ("http://S3.example:80/", "http://s3.example"),
    ])
    func `A default port is not signed`(long: String, short: String) throws {
        let signatures = [long, short].map { endpoint in
            S3Presigner(endpoint: endpoint, region: "r", accessKeyID: "id", secretAccessKey: "secret")
                .link(toPath: "/b/k", seconds: 60, now: Date(timeIntervalSince1970: 0)).suffix(64)
        }
        #expect(signatures[0] == signatures[1])
    }

    @Test func `A list is parsed`() {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><IsTruncated>true</IsTruncated>
            <NextContinuationToken>a+b/&lt;&amp;&quot;&amp;lt;=</NextContinuationToken>
            <Contents><Key>e/1</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified><Size>4</Size></Contents>
            <Contents><LastModified>2010-10-12T17:50:30.000Z</LastModified><Key>e/2</Key></Contents>
            <Contents><Key>no time</Key></Contents></ListBucketResult>
            """
        let document = S3Document(Array(text.utf8))
        #expect(document.text(of: "NextContinuationToken") == "a+b/<&\"&lt;=")
        #expect(document.text(of: "IsTruncated") == "true")
        #expect(
            document.entries == [
                S3Document.Entry(key: "e/1", modified: "2009-10-12T17:50:30.000Z"),
                S3Document.Entry(key: "e/2", modified: "2010-10-12T17:50:30.000Z"),
            ])
    }

    @Test(arguments: ["", "<", "<Key>", "</Key><Key>", "<Contents><Key>a</Key>", "\u{0}\u{FFFD}"])
    func `A text that is not a list has no entries`(text: String) {
        let document = S3Document(Array(text.utf8))
        #expect(document.entries.isEmpty)
        #expect(document.text(of: "IsTruncated") == nil)
    }

    @Test(arguments: [
        ("https://s3.eu-central-1.amazonaws.com", true), ("http://minio:9000/", true), ("http://[::1]:9000", true), ("minio:9000", false),
        ("https://", false), ("https://a/b", false), ("https://user@a", false), ("https://a?b", false), ("ftp://a", false),
    ])
    func `An endpoint is a scheme, a host and an optional port`(text: String, isEndpoint: Bool) {
        #expect(S3Configuration.isEndpoint(text) == isEndpoint)
    }

    @Test(arguments: [("pictures", true), ("a.b-c", true), ("ab", false), ("Pictures", false), ("a/b", false), ("-ab", false)])
    func `A bucket name is validated`(text: String, isBucket: Bool) {
        #expect(S3Configuration.isBucket(text) == isBucket)
    }
}
