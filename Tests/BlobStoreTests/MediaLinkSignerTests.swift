import BlobStore
import Foundation
import Testing

@Suite struct MediaLinkSignerTests {
    private static let now = Date(timeIntervalSince1970: 1_763_740_800)

    private func signer(_ byte: UInt8 = 1, _ url: String = "https://api.example.org") throws -> MediaLinkSigner {
        MediaLinkSigner(key: [UInt8](repeating: byte, count: 32), publicURL: try #require(PublicURL(url)))
    }

    /// The parts of a link as the service receives them.
    private func parts(_ link: String) throws -> (path: String, expiry: String?, signature: String?) {
        let url = try #require(URLComponents(string: link))
        func value(_ name: String) -> String? { url.queryItems?.first { $0.name == name }?.value }
        return (String(url.path.dropFirst(MediaLinkSigner.pathPrefix.count)), value("exp"), value("sig"))
    }

    private func link(seconds: Double = 60) throws -> String {
        let key = try BlobKey("images/job.v1/thumbnail-abc.jpg")
        return try #require(try signer().link(to: key, until: Self.now.addingTimeInterval(seconds)))
    }

    @Test func `a link is an https URL with the picture's extension, and always the same`() throws {
        #expect(
            try link() == "https://api.example.org/media/images/job.v1/thumbnail-abc.jpg?exp=1763740860"
                + "&sig=6Zojptz5Xj_tn55GXLP_W16IPsAKqjM8Sv7DZ736omU")
    }

    @Test(arguments: PictureType.allCases)
    func `a link grants access to its picture`(type: PictureType) throws {
        let key = try BlobKey("images/job/result-abc.\(type.fileExtension)")
        let link = try #require(try signer().link(to: key, until: Self.now.addingTimeInterval(1)))
        let (path, expiry, signature) = try parts(link)
        let grant = try #require(try signer().verify(path: path, expiry: expiry, signature: signature, now: Self.now))
        #expect(grant == (try signer().verify(path: path, expiry: expiry, signature: signature, now: Self.now)))
        #expect(grant.key == key && grant.type == type && grant.expires == Self.now.addingTimeInterval(1))
    }

    @Test(arguments: ["images/job/input", "images/job/result.heic", "jpg", "images/job/resultjpg"])
    func `a key without a picture's extension has no link`(name: String) throws {
        #expect(try signer().link(to: BlobKey(name), until: Self.now) == nil)
    }

    @Test func `a link expires at its time`() throws {
        let (path, expiry, signature) = try parts(try link(seconds: 10))
        let before = Self.now.addingTimeInterval(9.9)
        let after = Self.now.addingTimeInterval(10)
        #expect(try signer().verify(path: path, expiry: expiry, signature: signature, now: before) != nil)
        #expect(try signer().verify(path: path, expiry: expiry, signature: signature, now: after) == nil)
    }

    @Test func `a link of another key, object, type or expiry is invalid`() throws {
        let (path, expiry, signature) = try parts(try link())
        #expect(try signer(2).verify(path: path, expiry: expiry, signature: signature, now: Self.now) == nil)
        for other in ["images/job.v1/thumbnail-abd.jpg", "images/job.v1/thumbnail-abc.png", "images/job.v1/thumbnail-abc", "", ".jpg"] {
            #expect(try signer().verify(path: other, expiry: expiry, signature: signature, now: Self.now) == nil)
        }
        for other in ["1763740861", "+1763740860", "01763740860", "", "x", nil] {
            #expect(try signer().verify(path: path, expiry: other, signature: signature, now: Self.now) == nil)
        }
        let cut = String(signature?.dropLast() ?? "")
        for other in [cut, "", nil, "\(signature ?? "")=", String(repeating: "A", count: 43)] {
            #expect(try signer().verify(path: path, expiry: expiry, signature: other, now: Self.now) == nil)
        }
    }

    @Test(arguments: [
        "https://api.example.org", "https://api.example.org/", "https://example.org:8443/photos", "http://localhost:8080",
        "http://127.0.0.1", "http://[::1]:8080", "https://[2001:db8::1]",
    ])
    func `a public URL is https, or leads to this machine`(text: String) {
        #expect(PublicURL(text)?.text == (text.hasSuffix("/") ? String(text.dropLast()) : text))
    }

    @Test(arguments: [
        "http://api.example.org", "http://localhost.example.org", "http://localhost@example.org", "ftp://localhost", "", "https://",
        "https:///x", "https://a b", "https://a?b", "https://a#b", "https://a:0", "https://a:65536", "https://a:b", "https://[::1",
        "https://user:pass@a", "https://a\n", "https://ä",
    ])
    func `any other text is not a public URL`(text: String) {
        #expect(PublicURL(text) == nil)
    }
}
