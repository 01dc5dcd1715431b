internal import BlobStore
internal import FCM
internal import FoundationEssentials
internal import HeliographCrypto
internal import Push

/// Renders the messages of notifications, each for all its devices.
struct Rendering: Sendable {
    let sealer: Sealer
    let links: MediaLinks

    /// Renders a notification; a failure settles its deliveries.
    func render(_ notification: ClaimedNotification) -> Result<FCMMessage, RenderingFailure> {
        do {
            guard let content = notification.content else { throw FCMError(.invalidMessage, "the content is erased") }
            return .success(try FCMMessage(content, sources(of: notification), expiresAt: notification.expiresAt))
        } catch {
            return .failure(
                RenderingFailure(code: (error is CryptoError ? DeliveryCode.sealedValue : .invalidMessage).rawValue, reason: "\(error)"))
        }
    }

    /// The sources of texts and of links to pictures, which are valid until the notification expires.
    private func sources(of notification: ClaimedNotification) -> PushSources {
        let (id, expiresAt) = (notification.id, notification.expiresAt)
        return PushSources(notificationID: id) { name in
            guard let key = try? BlobKey(name) else { return nil }
            return links.link(to: key, until: expiresAt)
        } open: { text in
            try text.opened(of: id, with: sealer)
        }
    }
}
