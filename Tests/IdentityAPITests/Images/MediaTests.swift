import BlobStore
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import NIOCore
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct MediaTests {
    private static let picture: [UInt8] = Array(0...255)

    /// Makes a picture, and returns the path and query of the link to it.
    private func makeLink(_ user: String = "owner") async throws -> String {
        let customer = try await api.customer(user)
        let id = try await api.job(by: customer)
        try await api.complete(id, picture: Self.picture)
        let job = try await api.get(Path.job(id) + "?result=url", by: customer)
        let link = try #require(job.json.text("data.result.image_url"))
        let thumbnail = try #require(job.json.text("data.result.thumbnail_url"))
        #expect(link.hasPrefix("https://api.example.org/media/images/\(id.wireString)/result-abc.jpg?exp="))
        #expect(thumbnail.contains("/thumbnail-def.jpg?exp="))
        #expect(job.json.value("data.result.processed_image_base64") == nil)
        return String(link.dropFirst("https://api.example.org".count))
    }

    @Test(.api) func `a link gives the picture without a bearer`() async throws {
        let link = try await makeLink()
        let response = try await api.send("GET", link)
        #expect(response.status == 200 && response.body == Self.picture)
        #expect(response.header("Content-Type") == "image/jpeg")
        #expect(response.header("X-Content-Type-Options") == "nosniff")
        #expect(response.header("Cache-Control")?.wholeMatch(of: /public, max-age=8[0-9]{4}, immutable/) != nil)
        let head = try await api.send("HEAD", link)
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head.header("Content-Length") == "256")
    }

    @Test(.api) func `a changed, truncated or expired link gets the same 404`() async throws {
        let (link, other) = (try await makeLink(), try await makeLink("other"))
        func path(_ link: String) -> String { String(link.prefix { $0 != "?" }) }
        let query = String(link.dropFirst(path(link).count))
        let signature = String(try #require(query.firstMatch(of: /sig=(.+)/)?.1))
        let signer = try api.context.mediaLinks().signer
        /// A link to the same picture, until so many seconds from now.
        func signed(until seconds: Double) throws -> String {
            let key = try BlobKey(String(path(link).dropFirst(MediaLinkSigner.pathPrefix.count)))
            let text = try #require(signer.link(to: key, until: Date(timeIntervalSinceNow: seconds)))
            return String(text.dropFirst(signer.publicURL.text.count))
        }
        func expiring(_ time: Int) -> String { link.replacing(/exp=\d+/, with: "exp=\(time)") }
        func signing(_ text: String) -> String { link.replacingOccurrences(of: signature, with: text) }
        // Each picture is there, and each signature was made here, or is a part of one.
        var invalid: [String] = [path(other) + query, path(link), path(link) + "?sig=" + signature, expiring(99_999_999_999)]
        invalid += [expiring(Int(Date().timeIntervalSince1970) + 60), signing(String(signature.reversed())), signing("")]
        invalid += [String(link.dropLast()), link.replacingOccurrences(of: ".jpg", with: ".png"), "/media/", "/media/../etc/passwd"]
        invalid += [try signed(until: -2), try signed(until: -86_400)]
        var answers: Set<String> = []
        for path in invalid {
            let response = try await api.send("GET", path)
            #expect(response.refusal == "404 not_found", "\(path)")
            answers.insert(response.json.text("message") ?? "")
        }
        #expect(answers.count == 1)
        for valid in [link, other, try signed(until: 10)] { #expect(try await api.send("GET", valid).status == 200, "\(valid)") }
    }

    /// Requests a picture larger than the buffers of a connection, and reads only the head of the answer.
    private func takePartOfPicture() async throws -> (link: String, RawConnection) {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        try await api.complete(id, picture: [UInt8](repeating: 7, count: 24 << 20))
        let answer = try await api.get(Path.job(id) + "?result=url", by: customer)
        let link = try #require(answer.json.text("data.result.image_url")).dropFirst("https://api.example.org".count)
        let connection = try RawConnection(port: api.port, receiveBuffer: 65_536)
        try await connection.send("GET \(link) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try await connection.receive(until: "\r\n\r\n")?.hasPrefix("HTTP/1.1 200") == true)
        return (String(link), connection)
    }

    @Test(.api { ($0.downloads, $0.connection.unreadAnswers) = (1, .minutes(10)) })
    func `a download holds its slot until its client disconnects`() async throws {
        let (link, connection) = try await takePartOfPicture()
        #expect(try await api.send("HEAD", link).status == 503)
        connection.close()
        try await eventually("the place is free") { try await api.send("HEAD", link).status == 200 }
    }

    @Test(.api { ($0.downloads, $0.connection.unreadAnswers) = (1, .seconds(1)) })
    func `a client that does not read its picture loses its slot`() async throws {
        let (link, connection) = try await takePartOfPicture()
        try await eventually("the place is free") { try await api.send("HEAD", link).status == 200 }
        connection.close()
    }

    /// Returns the resident memory of this process, in MiB.
    private static func residentMiB() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
        return ((Int(pages) ?? 0) * sysconf(Int32(_SC_PAGESIZE))) >> 20
    }

    // An address gets half of the downloads.
    @Test(.api { $0.downloads = 2 * (49 + 1) })
    func `fifty slow readers of large pictures share a small memory, and get them whole`() async throws {
        // A container of identity-api has 384 MiB; fifty whole pictures would need a thousand.
        let (readers, mostMiB) = (49, 256)
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        let picture = SecureRandom.bytes(20 << 20)
        try await api.complete(id, picture: picture)
        let answer = try await api.get(Path.job(id) + "?result=url", by: customer)
        let link = String(try #require(answer.json.text("data.result.image_url")).dropFirst("https://api.example.org".count))
        let before = try Self.residentMiB()
        var connections: [RawConnection] = []
        for number in 0..<readers {
            // Half of the readers request it within JSON.
            let path = number % 2 == 0 ? link : Path.job(id)
            let connection = try RawConnection(port: api.port, receiveBuffer: 65_536)
            try await connection.send(
                "GET \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(customer.token)\r\n\r\n")
            #expect(try await connection.receive(until: "\r\n\r\n")?.hasPrefix("HTTP/1.1 200") == true)
            connections.append(connection)
        }
        let grown = try Self.residentMiB() - before
        #expect(grown < mostMiB, "\(grown) MiB for \(readers) readers")
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(api.port)\(link)", timeout: .seconds(120))
        request.maxResponseBodyByteCount = picture.count
        #expect(try await api.http.execute(request).body == picture)
        for connection in connections { connection.close() }
    }

    @Test(.api) func `a byte range can be requested`() async throws {
        let link = try await makeLink()
        let part = try await api.send("GET", link, headers: [("Range", "bytes=10-19")])
        #expect(part.status == 206 && part.body == Array(10...19))
        #expect(part.header("Content-Range") == "bytes 10-19/256")
        let beyond = try await api.send("GET", link, headers: [("Range", "bytes=256-")])
        #expect(beyond.refusal == "416 invalid_request Range" && beyond.header("Content-Range") == "bytes */256")
        let stale = try await api.send("GET", link, headers: [("Range", "bytes=0-1"), ("If-Range", "\"other\"")])
        #expect(stale.status == 200 && stale.body == Self.picture)
    }

    @Test(.api) func `a current entity tag gets 304`() async throws {
        let link = try await makeLink()
        let tag = try #require(try await api.send("GET", link).header("ETag"))
        let same = try await api.send("GET", link, headers: [("If-None-Match", tag)])
        #expect(same.status == 304)
        #expect(same.body.isEmpty)
        #expect(same.header("ETag") == tag)
    }

    @Test(arguments: [
        (nil, ByteRange.whole), ("bytes=0-0", .part(0..<1)), ("bytes=90-200", .part(90..<100)), ("bytes=95-", .part(95..<100)),
        ("bytes=-5", .part(95..<100)), ("bytes=-500", .part(0..<100)), ("bytes=100-", .unsatisfiable), ("bytes=-0", .unsatisfiable),
        ("bytes=5-4", .whole), ("bytes=0-1,3-4", .whole), ("bytes=a-b", .whole), ("bytes=-", .whole), ("items=0-1", .whole),
        ("bytes=99999999999999999999-", .whole), ("bytes=+1-2", .whole), ("bytes=1", .whole),
    ])
    func `ranges are read as in RFC 9110`(value: String?, range: ByteRange) {
        #expect(ByteRange(value, of: 100) == range)
    }

    @Test(arguments: [("bytes=0-", ByteRange.unsatisfiable), ("bytes=-1", .unsatisfiable)])
    func `no range of an empty file is satisfiable`(value: String, range: ByteRange) {
        #expect(ByteRange(value, of: 0) == range)
    }
}
