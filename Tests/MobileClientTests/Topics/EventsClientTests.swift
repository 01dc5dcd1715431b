import Foundation
import Testing

@testable import MobileClient

@Suite struct EventsClientTests {
    private let folder: TemporaryFolder
    private let time = ManualTime(Date())
    private let jpeg = Data([0xFF, 0xD8, 0xFF, 0xE0]) + Data(repeating: 7, count: 1_000)

    init() throws { folder = try TemporaryFolder() }

    private var forms: URL { folder.url.appendingPathComponent("forms") }

    private func file(_ data: Data) throws -> URL {
        let file = folder.url.appendingPathComponent("photo-\(UUID()).bin")
        try data.write(to: file)
        return file
    }

    private func client(_ handler: @escaping ScriptedSender.Handler) -> (EventsClient, ScriptedSender) {
        let sender = ScriptedSender(handler)
        return (EventsClient(api: sender, folder: forms, time: time.source), sender)
    }

    private static let added = #"{"success":true,"data":{"photo_id":"00000000-0000-4000-8000-000000000001","status":"pending"}}"#

    @Test func `a photo is sent as a form, which is deleted afterwards, and the photo is not`() async throws {
        let (events, sender) = client { _ throws(HeliographError) in .json(Self.added, status: 202) }
        let (photo, key) = (try file(jpeg), UUID())
        let id = try await events.addPhoto(photo, to: "party", key: key)
        #expect(id.uuidString == "00000000-0000-4000-8000-000000000001")
        let sent = try #require(await sender.sent.first)
        #expect(sent.path == "/v1/topics/event:party/photos" && sent.idempotencyKey == key)
        #expect(sent.body?.range(of: jpeg) != nil && sent.body?.range(of: Data("filename=\"photo.jpg\"".utf8)) != nil)
        #expect(folder.files == [photo.lastPathComponent])
    }

    @Test func `a form is deleted after an error too`() async throws {
        let (events, _) = client { _ throws(HeliographError) in throw HeliographError(.unreachable, "no network", isRetryable: true) }
        let photo = try file(jpeg)
        let error = await #expect(throws: HeliographError.self) { try await events.addPhoto(photo, to: "party") }
        #expect(error?.code == .unreachable)
        #expect(folder.files == [photo.lastPathComponent])
    }

    @Test func `a form that an end of the process left is deleted by the next upload, after a day`() async throws {
        try FileManager.default.createDirectory(at: forms, withIntermediateDirectories: true)
        for name in ["left.form", "left.form.part"] { try Data("x".utf8).write(to: forms.appendingPathComponent(name)) }
        let (events, _) = client { _ throws(HeliographError) in .json(Self.added, status: 202) }
        let photo = try file(jpeg)
        _ = try await events.addPhoto(photo, to: "party")
        #expect(folder.files.count == 3, "another process may be sending it")
        time.advance(by: .seconds(25 * 60 * 60))
        _ = try await events.addPhoto(photo, to: "party")
        #expect(folder.files == [photo.lastPathComponent])
    }

    @Test func `a form of the future, which a clock that was wrong has left, is deleted too`() async throws {
        try FileManager.default.createDirectory(at: forms, withIntermediateDirectories: true)
        let left = forms.appendingPathComponent("left.form")
        try Data("x".utf8).write(to: left)
        let future = time.source.now().addingTimeInterval(25 * 60 * 60)
        try FileManager.default.setAttributes([.modificationDate: future], ofItemAtPath: left.path)
        let (events, _) = client { _ throws(HeliographError) in .json(Self.added, status: 202) }
        let photo = try file(jpeg)
        _ = try await events.addPhoto(photo, to: "party")
        #expect(folder.files == [photo.lastPathComponent])
    }

    @Test(
        arguments: [
            ("image/jpeg", [0xFF, 0xD8, 0xFF, 0xDB]), ("image/png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
            ("image/webp", Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBP".utf8)), ("image/heic", [0, 0, 0, 24] + Array("ftypheic".utf8)),
        ] as [(String, [UInt8])])
    func `the type of a photo is that of its first bytes`(type: String, head: [UInt8]) async throws {
        let photo = try await OutgoingPhoto(.file(try file(Data(head))), .picture, field: "photo", scaler: nil)
        #expect(photo.format.mediaType == type)
    }

    @Test(
        arguments: [[], Array("GIF89a......".utf8), Array("<svg xmlns='…'/>".utf8), Array("%PDF-1.7 ....".utf8), [0xFF, 0xD8]] as [[UInt8]])
    func `what is no photo is refused, and nothing is sent`(bytes: [UInt8]) async throws {
        let (events, sender) = client { _ throws(HeliographError) in .json(Self.added, status: 202) }
        let file = try file(Data(bytes))
        let error = await #expect(throws: HeliographError.self) { try await events.addPhoto(file, to: "party") }
        #expect(error?.code == .invalidArgument && error?.field == "photo")
        #expect(await sender.sent.isEmpty)
    }

    @Test func `a photo of 10 MB passes, one byte more does not, and one that is not there cannot be read`() async throws {
        func outgoing(_ file: URL) async throws -> OutgoingPhoto {
            try await OutgoingPhoto(.file(file), .picture, field: "photo", scaler: nil)
        }
        let limit = 10 * 1_024 * 1_024
        let whole = try file(Data([0xFF, 0xD8, 0xFF]) + Data(count: limit - 3))
        #expect(try await outgoing(whole).content == .file(whole))
        let larger = try file(Data([0xFF, 0xD8, 0xFF]) + Data(count: limit - 2))
        let error = await #expect(throws: HeliographError.self) { try await outgoing(larger) }
        #expect(error?.code == .invalidArgument)
        let missing = folder.url.appendingPathComponent("missing.jpg")
        let storage = await #expect(throws: HeliographError.self) { try await outgoing(missing) }
        #expect(storage?.code == .storage)
    }
}
