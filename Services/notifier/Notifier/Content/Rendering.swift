internal import BlobStore
internal import FCM
internal import FoundationEssentials
internal import HeliographCrypto
internal import Storage
internal import WireFormat

/// Renders the messages of notifications, each for all its devices.
struct Rendering: Sendable {
    let sealer: Sealer
    let links: MediaLinks

    /// Renders a notification; a failure settles its deliveries.
    func render(_ notification: ClaimedNotification) -> Result<FCMMessage, RenderingFailure> {
        do {
            let content = try PushContent(
                notification.kind, parameters: notification.parameters, link: { link(to: $0, of: notification) },
                open: { try open($0, context: $1) }, notificationID: notification.id)
            return .success(try FCMMessage(content, expiresAt: notification.expiresAt))
        } catch {
            return .failure(
                RenderingFailure(code: (error is CryptoError ? DeliveryCode.sealedValue : .invalidMessage).rawValue, reason: "\(error)"))
        }
    }

    private func open(_ text: String, context: [UInt8]) throws -> String {
        guard let sealed = Base64URL.decode(text) else {
            throw CryptoError(.malformed, "a sealed parameter is not base64url")
        }
        return String(decoding: try sealer.open(sealed, context: context), as: UTF8.self)
    }

    /// Makes the link to a picture, valid until the notification expires.
    private func link(to name: String, of notification: ClaimedNotification) -> String? {
        guard let key = try? BlobKey(name) else { return nil }
        return links.link(to: key, until: notification.expiresAt)
    }
}
