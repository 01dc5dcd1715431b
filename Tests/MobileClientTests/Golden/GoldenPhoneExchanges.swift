import Foundation

@testable import MobileClient

extension GoldenExchange {
    /// Phones, what they show, and receipts.
    static let phones: [GoldenExchange] = [
        .answer("device-register", device("cAbCdEfGhIjKlMnOpQrSt1:one"), is: .registered),
        .answer(
            "device-register-pending", device("cAbCdEfGhIjKlMnOpQrSt1:one"),
            is: .pending(handOverID: GoldenFile.id().wireText, expiresIn: .seconds(GoldenFile.seconds))),
        .refusal(
            "device-register-invalid-token",
            DeviceRequests.register(token: "with space", platform: "ios", appVersion: nil, locale: nil), .invalidRequest,
            field: "device_token"),
        .done("device-confirm", DeviceRequests.confirm(handOverID: GoldenFile.id("hand_over").wireText, nonce: "token-nonce")),
        .refusal(
            "device-confirm-not-found", DeviceRequests.confirm(handOverID: GoldenFile.id("hand_over").wireText, nonce: "token-nonce"),
            .notFound),
        .done("device-unregister", DeviceRequests.remove()),
        .done("presence-show", PresenceRequests.show("c-1")), .done("presence-hide", PresenceRequests.show(nil)),
        .refusal("presence-device-not-registered", PresenceRequests.show("c-1"), .deviceNotRegistered),
        .refusal("presence-topic-not-found", PresenceRequests.show("c-9"), .topicNotFound),
    ]

    private static func device(_ token: String) -> APIRequest<DeviceRequests.Registration> {
        DeviceRequests.register(token: token, platform: "ios", appVersion: "1.2", locale: "de-CH")
    }
}
