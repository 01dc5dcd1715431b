internal import FCM
internal import FoundationEssentials

/// FCM's answer to a push.
struct PushAnswer: Sendable {
    let push: QueuedPush
    let result: FCMResult
    /// The time the send began.
    let sentAt: Date
    /// The duration of the send.
    let time: Duration
}
