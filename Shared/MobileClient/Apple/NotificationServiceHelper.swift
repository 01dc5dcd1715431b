#if canImport(UserNotifications)
    public import Foundation
    public import UserNotifications

    /// Does the work of a notification service extension, which is then three lines:
    ///
    /// ```swift
    /// final class NotificationService: UNNotificationServiceExtension {
    ///     private let helper = NotificationServiceHelper(folder: clientFolder)
    ///     override func didReceive(
    ///         _ request: UNNotificationRequest, withContentHandler handler: @escaping (UNNotificationContent) -> Void
    ///     ) { helper.didReceive(request, withContentHandler: handler) }
    ///     override func serviceExtensionTimeWillExpire() { helper.serviceExtensionTimeWillExpire() }
    /// }
    /// ```
    public final class NotificationServiceHelper: Sendable {
        private let phone: PushExtension

        /// - Parameters:
        ///   - folder: The folder of the app's client, in a container of the app group.
        ///   - hosts: The only hosts that pictures are loaded from; nil allows all (``AttachmentPlan/init(_:hosts:)``).
        ///   - transport: Loads the pictures.
        public init(folder: URL, hosts: Set<String>? = nil, transport: any HTTPTransport = URLSessionTransport()) {
            phone = PushExtension(folder: folder, transport: transport, hosts: hosts)
        }

        /// Takes a push, and calls `contentHandler` once: with its picture, or with its text alone after 25 s at most.
        public func didReceive(
            _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {
            let payload = PushPayload(userInfo: request.content.userInfo, identifier: request.identifier)
            let content = NotificationContent(request.content, contentHandler)
            phone.receive(payload) { content.deliver($0) }
        }

        /// Hands back at once the notifications that were not handed back yet, with their text alone.
        public func serviceExtensionTimeWillExpire() { phone.expire() }
    }

    /// The notification of one request, and the handler that takes it back.
    private struct NotificationContent: @unchecked Sendable {
        // Used once, by the one delivery of the loader, which no other thread shares; the extension does not touch them afterwards.
        private let content: UNNotificationContent
        private let handler: (UNNotificationContent) -> Void

        init(_ content: UNNotificationContent, _ handler: @escaping (UNNotificationContent) -> Void) {
            self.content = content
            self.handler = handler
        }

        /// Hands the notification back; returns whether the picture's file has become the system's.
        func deliver(_ picture: NotificationContentLoader.Attachment?) -> Bool {
            let options = [UNNotificationAttachmentOptionsTypeHintKey: picture?.type.typeIdentifier ?? ""]
            let attachment = picture.flatMap { try? UNNotificationAttachment(identifier: "picture", url: $0.file, options: options) }
            let copy = content.mutableCopy() as? UNMutableNotificationContent
            if let attachment { copy?.attachments = [attachment] }
            handler(copy ?? content)
            return attachment != nil && copy != nil
        }
    }
#endif
