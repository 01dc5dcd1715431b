import Foundation
import Testing

@testable import MobileClient

@Suite struct ReceiptFilesTests {
    private let folder: TemporaryFolder
    private let files: ReceiptFiles
    private let now = Date(timeIntervalSince1970: 1_800_000_100)

    init() throws {
        folder = try TemporaryFolder()
        files = ReceiptFiles(folder: folder.url)
    }

    @Test func `a receipt that is added twice is one, with the first time`() throws {
        try files.add(ReceiptSamples.delivered(at: 1_800_000_000))
        try files.add(ReceiptSamples.delivered(at: 1_800_000_050))
        #expect(files.load(now: now) == [ReceiptSamples.delivered(at: 1_800_000_000)])
    }

    @Test(arguments: [
        "", "{", "null", #"{"subject":"message_id","id":"../../x","event":"delivered","at":1}"#,
        #"{"subject":"message_id","id":"other","event":"delivered","at":1800000000}"#, String(repeating: "x", count: 2_000),
    ])
    func `a file that is no receipt is removed`(text: String) throws {
        try Data(text.utf8).write(to: folder.url.appending(path: "message_id-delivered-m-1.json"))
        #expect(files.load(now: now).isEmpty && folder.files.isEmpty)
    }

    @Test func `a receipt of last week is removed`() throws {
        try files.add(ReceiptSamples.delivered(at: now.timeIntervalSince1970 - ReceiptFiles.maxAge))
        try files.add(ReceiptSamples.delivered("m-2", at: now.timeIntervalSince1970 - ReceiptFiles.maxAge + 1))
        #expect(files.load(now: now).map(\.id) == ["m-2"] && folder.files.count == 1)
    }

    @Test func `the oldest of too many are removed`() throws {
        for number in 0..<505 { try files.add(ReceiptSamples.delivered("m-\(number)", at: 1_800_000_000 + Double(number) / 100)) }
        let loaded = files.load(now: now)
        #expect(loaded.count == 500 && loaded.first?.id == "m-5" && folder.files.count == 500)
    }

    @Test func `an extension whose app is never opened does not fill the disk`() throws {
        for number in 0..<999 { try Data().write(to: folder.url.appending(path: "\(number).json")) }
        for name in ["last", "m-2"] { try files.add(ReceiptSamples.delivered(name)) }
        #expect(folder.files.count == 1_000)
        #expect(files.load(now: now).map(\.id) == ["last"])
        try files.add(ReceiptSamples.delivered("m-2"))
        #expect(folder.files.count == 2)
    }

    @Test func `what a cut-off write left is removed after an hour`() throws {
        let left = folder.url.appending(path: ".dat.nosync1")
        try Data().write(to: left)
        let written = try #require(left.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate)
        _ = files.load(now: written.addingTimeInterval(3_599))
        #expect(folder.files.count == 1)
        _ = files.load(now: written.addingTimeInterval(3_601))
        #expect(folder.files.isEmpty)
    }

    @Test func `ids that the API refuses make no receipt`() {
        #expect(PushReceipt(.job, "job-1", .opened, at: 1) == nil && PushReceipt(.job, PushSamples.job, .opened, at: 1) != nil)
        #expect(PushReceipt(.session, "+\(PushSamples.session.dropFirst())", .opened, at: 1) == nil)
        #expect(PushReceipt(.message, String(repeating: "m", count: 49), .opened, at: 1) == nil)
        #expect(PushReceipt(.event, "a.b", .opened, at: 1) == nil && PushReceipt(.event, "a/b", .opened, at: 1) == nil)
        for time in [.nan, .infinity, -1, 1e300] { #expect(PushReceipt(.event, "42", .opened, at: time) == nil) }
    }

    @Test func `each kind has the subject by which the API finds it`() {
        func subject(_ payload: PushPayload) -> String? { PushReceipt(PushMessage(payload), .opened, at: 1)?.key }
        #expect(subject(PushSamples.jobCompleted(PushSamples.job.uppercased())) == "job_id-opened-\(PushSamples.job)")
        #expect(subject(PushSamples.signIn()) == "session_id-opened-\(PushSamples.session)")
        #expect(subject(PushSamples.chat()) == "message_id-opened-m-77")
        #expect(subject(PushSamples.newPhotos()) == "event_id-opened-42")
        #expect(
            subject(PushSamples.push(["kind": "x", "notification_id": PushSamples.job], title: nil))
                == "notification_id-opened-\(PushSamples.job)")
        #expect(subject(PushSamples.possessionCheck) == nil)
    }
}
