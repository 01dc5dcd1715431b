import Accounts
import BlobStore
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import NIOCore
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

private let path = "/v1/users/me/export"

/// The files of an archive, as another program extracts them.
private func files(of archive: [UInt8]) async throws -> [String: [UInt8]] {
    let folder = try TemporaryDirectory()
    try Data(archive).write(to: URL(fileURLWithPath: folder.path + "/export.zip"))
    try await CommandLineTool.run(["unzip", "-q", folder.path + "/export.zip", "-d", folder.path + "/out"])
    let paths = FileManager.default.enumerator(atPath: folder.path + "/out")?.compactMap { $0 as? String } ?? []
    var files: [String: [UInt8]] = [:]
    for path in paths {
        guard let data = FileManager.default.contents(atPath: "\(folder.path)/out/\(path)"), path.contains(".") else { continue }
        files[path] = [UInt8](data)
    }
    return files
}

extension [String: [UInt8]] {
    /// The records of a list.
    fileprivate func records(_ list: ExportedList) throws -> [JSONValue] {
        let bytes = try #require(self["\(list.rawValue).json"])
        return try #require(try JSONValue(parsing: bytes).elements)
    }
}

extension SignedInDevice {
    fileprivate var customer: Customer { Customer(userID: userID, token: accessToken) }
}

extension IdentityFixture {
    fileprivate func export(_ device: SignedInDevice) async throws -> HTTPClientResponse {
        try await send("GET", path, headers: [device.bearer])
    }

    /// Begins an export that is larger than the buffers of a connection, and reads no further than the first picture.
    fileprivate func beginExport(_ device: SignedInDevice) async throws -> RawConnection {
        try await complete(try await job(by: device.customer), picture: [UInt8](repeating: 7, count: 24 << 20))
        let connection = try RawConnection(port: port, receiveBuffer: 65_536)
        try await connection.send("GET \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(device.accessToken)\r\n\r\n")
        #expect(try await connection.receive(until: "images/")?.hasPrefix("HTTP/1.1 200") == true)
        return connection
    }
}

/// Exports of accounts.
@Suite struct ExportTests {
    @Test(.api) func `an export has every list, also of an account that has nothing`() async throws {
        let device = try await api.signedInDevice(email: "ada@example.org")
        let answer = try await api.export(device)
        #expect(answer.status == 200 && answer.header("Content-Type") == "application/zip")
        #expect(answer.header("Content-Disposition") == "attachment; filename=\"heliograph-export.zip\"")
        #expect(answer.header("Cache-Control") == "no-store")
        let files = try await files(of: answer.body)
        #expect(Set(files.keys) == Set(ExportedList.allCases.map { "\($0.rawValue).json" } + ["account.json"]))
        let account = try JSONValue(parsing: try #require(files["account.json"]))
        #expect(account.text("email") == "ada@example.org" && account.text("user_id") == device.userID.wireString)
        #expect(try files.records(.photos).isEmpty)
        #expect(try files.records(.signIns).count == 1 && files.records(.devices).count == 1)
        #expect(try files.records(.faceSessions).count == 2)
        #expect(try files.records(.audit).contains { $0.text("action") == "account_exported" && $0.text("by") == "user" })
    }

    @Test(.api) func `an export has the pictures of its owner, and what the owner wrote`() async throws {
        let device = try await api.signedInDevice()
        let job = try await api.job(by: device.customer)
        try await api.complete(job, picture: [0xFF, 0xD8, 9], format: "jpeg")
        _ = try await api.send("PUT", "/v1/topics/event:party/members/me", headers: [device.bearer])
        let photo = try await api.send(.photo(seed: 5), to: "/v1/topics/event:party/photos", headers: [device.bearer])
        let photoID = try #require(photo.json.text("data.photo_id"))
        let stranger = UUID().wireString
        let report = try await api.post(
            "/v1/users/\(stranger)/report", #"{"reason":"spam","text":"Every hour"}"#, bearer: device.accessToken)
        #expect(report.status == 202)
        let push = JobCompletedPush(jobID: job, templateName: "Oil", thumbnailKey: nil).request(to: device.userID, expiresAt: Date())
        let notification = NewNotification(
            id: push.notificationID, dedupeKey: push.dedupeKey, content: push.content, recipient: push.recipient, lane: push.lane,
            expiresAt: push.expiresAt)
        #expect(try await NotificationRepository(api.postgres).insert(notification))
        let files = try await files(of: try await api.export(device).body)
        #expect(try files.records(.notifications).map { $0.text("image_job_id") } == [job.wireString])
        #expect(files["images/\(job.wireString).jpg"] == [0xFF, 0xD8, 9])
        #expect(files["photos/\(photoID).jpg"] == TestPhoto.jpeg(seed: 5))
        #expect(try files.records(.imageJobs).map { $0.text("id") } == [job.wireString])
        #expect(try files.records(.photos)[0].text("topic") == "event:party")
        #expect(try files.records(.topics)[0].value("is_owner") == true)
        #expect(try files.records(.reports)[0].text("text") == "Every hour")
    }

    @Test(.api) func `an export has nothing of other people, and no secret`() async throws {
        let chat = try await Chat.make(api)
        let device = try await api.signedInDevice()
        try await api.bring(device.customer, to: Chat.path, by: chat.ada)
        try await chat.say("hello", "m-1", by: chat.ada)
        try await api.complete(try await api.job(by: chat.ada))
        let path = "/v1/users/\(device.userID.wireString)"
        #expect(try await api.json("POST", path + "/report", #"{"reason":"spam"}"#, by: chat.eve).status == 202)
        let members = "/v1/topics/event:party/members/"
        #expect(try await api.send("PUT", members + "me", headers: [chat.eve.bearer]).status == 200)
        #expect(try await api.send("PUT", members + device.userID.wireString, headers: [chat.eve.bearer]).status == 202)
        _ = try await api.send("PUT", "/v1/users/me/blocks/\(device.userID.wireString)", headers: [chat.eve.bearer])
        let files = try await files(of: try await api.export(device).body)
        for list in [ExportedList.imageJobs, .messages, .blocks, .reports] { #expect(try files.records(list).isEmpty, "\(list)") }
        #expect(try files.records(.invitationsReceived).count == 1)
        let text = files.values.map { String(decoding: $0, as: UTF8.self) }.joined()
        let target = try #require(PushTarget(Form.pushToken))
        let tokens = [device.accessToken, device.refreshToken]
        let hashes = tokens.map { OpaqueToken.hash($0) } + [target.valueHash, target.installationKey]
        let people = [chat.eve.userID.wireString, chat.ada.userID.wireString]
        for secret in [Form.pushToken] + tokens + people + hashes.map({ Hex.encode($0) }) {
            #expect(!text.contains(secret))
        }
    }

    @Test(.api) func `a picture that cannot be read is named, and the rest is exported`() async throws {
        let device = try await api.signedInDevice()
        let gone = try await api.job(by: device.customer)
        let kept = try await api.job(by: device.customer)
        for job in [gone, kept] { try await api.complete(job) }
        try await api.context.blobStore(.pictures).deleteAll(under: BlobFolder.imageJobs.prefix(of: gone))
        let files = try await files(of: try await api.export(device).body)
        #expect(files["images/\(kept.wireString).jpg"] != nil && files["images/\(gone.wireString).jpg"] == nil)
        let omitted = try JSONValue(parsing: try #require(files["omitted.json"]))
        #expect(omitted == [.members(("file", .string("images/\(gone.wireString)")), ("reason", "unreadable"))])
    }

    @Test(.api) func `a list of several pages is exported whole, each record once`() async throws {
        let device = try await api.signedInDevice()
        try await api.postgres.execute(
            """
            INSERT INTO audit_log (actor_kind, actor_id, action, result, subject_id, detail)
            SELECT 'user', 'x', 'profile_changed', 'succeeded', \(device.userID), 'n' || n FROM generate_series(1, 450) n
            """)
        let audit = try await files(of: try await api.export(device).body).records(.audit)
        let numbers = audit.filter { $0.text("action") == "profile_changed" }.compactMap { $0.text("detail") }
        #expect(numbers.count == 450 && Set(numbers).count == 450)
    }

    @Test(.api) func `an export needs a sign-in of the last five minutes`() async throws {
        let device = try await api.signedInDevice()
        try await api.age(device, by: 301)
        #expect(try await api.export(device).refusal == "403 reauthentication_required")
        #expect(try await api.count("account_exports") == 0)
    }

    @Test(.api { $0.exports.perDay = 2 }) func `the exports of an account in a day are limited, and HEAD does not count`() async throws {
        let device = try await api.signedInDevice()
        #expect(try await api.send("HEAD", path, headers: [device.bearer]).status == 200)
        for _ in 0..<2 { #expect(try await api.export(device).status == 200) }
        let refused = try await api.export(device)
        #expect(refused.refusal == "429 rate_limited")
        #expect((86_000...86_400).contains(refused.header("Retry-After").flatMap { Int($0) } ?? 0))
        try await api.postgres.execute("UPDATE account_exports SET started_at = started_at - interval '1 day'")
        #expect(try await api.export(device).status == 200)
    }

    @Test(.api { $0.connection.unreadAnswers = .minutes(10) })
    func `an account has one export at a time, and the next when its client disconnects`() async throws {
        let device = try await api.signedInDevice()
        let connection = try await api.beginExport(device)
        let second = try await api.export(device)
        #expect(second.refusal == "409 request_in_progress" && second.header("Retry-After") == "30")
        connection.close()
        try await eventually("the export has ended") { try await api.count("account_exports WHERE ended_at IS NULL") == 0 }
    }

    @Test(
        .api {
            $0.exports.renewal = .zero
            $0.connection.unreadAnswers = .minutes(10)
        })
    func `an export ends with its sign-in, and is not taken for a whole one`() async throws {
        let device = try await api.signedInDevice()
        let connection = try await api.beginExport(device)
        #expect(try await api.logout(device.accessToken).status == 200)
        let rest = try #require(try await connection.receive())
        #expect(!rest.hasSuffix("\r\n0\r\n\r\n"), "the last chunk of a whole body is missing")
        #expect(!rest.contains("PK\u{5}\u{6}"), "so is the end of the archive")
        try await eventually("the export has ended") { try await api.count("account_exports WHERE ended_at IS NULL") == 0 }
    }

    @Test(
        .api {
            $0.exports.renewal = .zero
            $0.connection.unreadAnswers = .minutes(10)
        })
    func `an export whose lease has run out ends, and is not taken for a whole one`() async throws {
        let device = try await api.signedInDevice()
        let connection = try await api.beginExport(device)
        try await api.postgres.execute("UPDATE account_exports SET lease_until = now() - interval '1 second'")
        let rest = try #require(try await connection.receive())
        #expect(!rest.contains("PK\u{5}\u{6}"), "the end of the archive is missing")
        try await eventually("the export has ended") { try await api.count("account_exports WHERE ended_at IS NULL") == 0 }
    }

    /// The most resident memory of this process since the last call, in MiB.
    private static func peakMiB() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
        return try #require(Int(line.split(whereSeparator: { $0 == " " || $0 == "\t" })[1])) >> 10
    }

    @Test func `the memory of an export does not grow with the pictures in it`() async {
        // In a process of its own, because other tests use memory too.
        await #expect(processExitsWith: .success) {
            try await withIdentityAPI { try await Self.expectBoundedMemory(of: $0) }
        }
    }

    private static func expectBoundedMemory(of api: IdentityFixture) async throws {
        let device = try await api.signedInDevice()
        let job = try await api.job(by: device.customer)
        try await api.complete(job, picture: SecureRandom.bytes(20 << 20))
        // Jobs that share one object: 500 MiB in all.
        try await api.postgres.execute(
            """
            INSERT INTO image_jobs
            SELECT (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid()))).*
            FROM image_jobs j, generate_series(1, 24) WHERE j.id = \(job)
            """)
        _ = try peakMiB()
        let before = try peakMiB()
        let size = try await CommandLineTool.run([
            "curl", "-sS", "-o", "/dev/null", "-w", "%{size_download}", "-H", "Authorization: Bearer \(device.accessToken)",
            "http://127.0.0.1:\(api.port)\(path)",
        ])
        #expect(try #require(Int(size)) > 500 << 20)
        let grown = try peakMiB() - before
        #expect(grown < 256, "\(grown) MiB for 500 MiB of pictures")
    }
}
