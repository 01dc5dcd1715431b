import Foundation
import Testing

@testable import MobileClient

/// Photos that are larger than the API takes, and what happens while they are scaled.
@Suite(.timeLimit(.minutes(5))) struct ClientPhotoTests {
    private static let large = PhotoHeads.heic(8_064, 6_048)

    private let bench: ClientBench

    init() throws { bench = try ClientBench() }

    @Test func `orders, faces and photos of events are scaled by the device`() async throws {
        let client = try await bench.launch(as: "ada")
        _ = try await client.images.process(Self.large, template: "oil")
        #expect(bench.scaler.count == 1)
        _ = try await client.ekyc.signIn([.data(Self.large)] + EKYCPhone.faces.dropLast(), email: "a@b.example")
        #expect(bench.scaler.count == 2)
        let file = bench.folder.url.appending(path: "photo")
        try Self.large.write(to: file)
        // The API of the bench has no events.
        _ = try? await client.events.addPhoto(file, to: "party")
        #expect(bench.scaler.count == 3)
    }

    /// A scaler that waits, as one with much to do, until a step of the test is over.
    private func scaler(waitingFor step: DispatchSemaphore) -> FakeScaler {
        FakeScaler { _ in
            step.wait()
            return FakeScaler.jpeg
        }
    }

    @Test(arguments: [EKYCClient.Owner.account, .email("a@b.example")])
    func `a session whose photos are scaled when the person signs out is refused`(owner: EKYCClient.Owner) async throws {
        let phone = try EKYCPhone()
        let step = DispatchSemaphore(value: 0)
        let scaler = scaler(waitingFor: step)
        let process = phone.launch(scaler: scaler)
        var photos = EKYCPhone.poses
        photos.left[0] = .data(Self.large)
        let session = Task { [photos] in try await process.client.signUp(photos, as: owner) }
        await until { scaler.count == 1 }
        try await process.manager.signedOut()
        step.signal()
        let error = await #expect(throws: HeliographError.self) { try await session.value }
        #expect(error?.code == .signedOut)
        #expect(await process.sender.sent.isEmpty && phone.leftovers.isEmpty)
    }

    @Test func `an order whose picture is scaled when the person signs out is refused`() async throws {
        let owner = Locked<String?>("ada")
        let jobs = try JobBench()
        let tracker = JobTracker(
            store: jobs.store, sender: jobs.sender, time: jobs.time.source, owner: { owner.withLock { $0 } },
            order: JobBench.orders(from: jobs.store, by: jobs.sender))
        let step = DispatchSemaphore(value: 0)
        let scaler = scaler(waitingFor: step)
        let client = ImagesClient(
            tracker: tracker, sender: jobs.sender, transport: ScriptedTransport { _ in TransportResponse(status: 404) }, scaler: scaler)
        let order = Task { try await client.process(Self.large, template: "ink") }
        await until { scaler.count == 1 }
        owner.withLock { $0 = "bob" }
        step.signal()
        let error = await #expect(throws: HeliographError.self) { try await order.value }
        #expect(error?.code == .signedOut)
        #expect(await jobs.api.requests.isEmpty && jobs.files.isEmpty)
    }
}
