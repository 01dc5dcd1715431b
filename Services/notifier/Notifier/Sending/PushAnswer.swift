internal import FCM
internal import FoundationEssentials

/// What FCM answered to a push.
struct PushAnswer: Sendable {
    let push: Push
    let result: FCMResult
    /// When it was asked.
    let sentAt: Date
    /// How long it took.
    let time: Duration
}
