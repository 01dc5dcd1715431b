internal import Foundation
internal import MobileClient

/// A phone of the demo: an app on MobileClient with a push token, to which the emulator's pushes are brought.
struct DemoPhone: Sendable {
    let token: String
    let client: HeliographClient
    let network: WatchingTransport

    init(_ name: String, in story: DemoStory) async throws {
        let folder = story.scratch.appending(path: name)
        token = try await story.emulator.newToken()
        network = WatchingTransport(URLSessionTransport(), api: story.addresses.api, detour: story.detour)
        client = HeliographClient(
            configuration: try ClientConfiguration(
                baseURL: story.addresses.api, appVersion: "1.0", locale: "en", folder: folder,
                allowsInsecureHTTP: true), storage: ClientStorage(files: folder, keys: PhoneHardware()), transport: network)
        try await client.start()
        await client.enterForeground()
        await client.pushTokenChanged(token)
    }

    /// Brings a push to the app, as the system does while the app is in the background.
    func bring(_ push: EmulatorControl.Push) async {
        if let payload = PushPayload(json: push.json) { await client.push.received(payload, in: .background) }
    }
}
