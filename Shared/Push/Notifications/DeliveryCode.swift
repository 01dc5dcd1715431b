/// The code of a delivery that did not come from FCM and is no ``Suppression``; stored in `deliveries.code`.
public enum DeliveryCode: String, Sendable, CaseIterable {
    /// Final: it was claimed more often than the retry policy allows, so each sender of it died.
    case attemptsExhausted = "attempts_exhausted"
    /// Final: the message cannot be rendered, such as for a missing parameter.
    case invalidMessage = "invalid_message"
    /// Final: the token, or a text of the message, cannot be opened with the keys of the notifier.
    case sealedValue = "sealed_value"
    /// Final: its time was over before a notifier took it.
    case neverSent = "never_sent"
    /// Final: a newer push to the same topic has replaced it.
    case superseded
    /// Final: the data of its user was erased.
    case userErased = "user_erased"
    /// FCM has asked the lane to wait.
    case lanePaused = "lane_paused"
    /// FCM's limits of pushes to one installation are reached.
    case installationRate = "installation_rate"
    /// The data that the notifier read at the claim became too old before the push could be sent.
    case claimTooOld = "claim_too_old"
    /// A notifier shut down before it sent the push.
    case senderStopped = "sender_stopped"
    /// A notifier died, or lost its lease, before it reported the outcome.
    case senderLost = "sender_lost"
    /// The event of the page was lost; the notifier found the page by its age.
    case eventMissing = "event_missing"
    /// A circuit breaker is open: FCM refuses the project's credentials.
    case breakerCredentials = "breaker_credentials"
    /// A circuit breaker is open: FCM fails for most pushes.
    case breakerTransient = "breaker_transient"

    /// The beginning of the code of an open circuit breaker of one platform's push service; the platform follows.
    public static let providerBreakerPrefix = "breaker_provider_"
}
