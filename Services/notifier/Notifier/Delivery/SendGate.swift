/// The checks before a send, in their order; the first that stops the push decides.
///
/// Before them, a push has waited in the ``SendQueue`` for the quota of the project and for a place in flight, and a lane that is
/// suspended (``PushPipeline/suspension(of:)``) claims nothing.
enum SendGate: CaseIterable {
    /// The notification has expired since the claim.
    case expiry
    /// A claim counts as an attempt, so that a push which crashes its sender is not sent without end.
    case attempts
    /// The claim found that the push must not be sent: `Suppression`.
    case suppression
    /// The message could not be rendered.
    case content
    /// FCM has asked the lane to wait.
    case lanePause
    /// The data read at the claim is too old, or the lease is revoked.
    case claimAge
    /// The installation's token cannot be opened with the keys of this deployment. Checked before the limits, because they count the pushes
    /// that they admit.
    case token
    /// FCM's limits of pushes to one installation.
    case installationRate
    /// FCM, or the part of it that serves the platform, refuses or fails too often.
    case circuitBreaker
}
