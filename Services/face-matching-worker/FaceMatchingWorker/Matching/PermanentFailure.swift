internal import AsyncPrimitives
internal import BlobStore
internal import FaceEngine
internal import HeliographCrypto

/// Distinguishes permanent failures from those after which a retry may succeed.
enum PermanentFailure {
    /// The number of deliveries after which a session ends with `internal`: after about a minute, long before its deadline.
    static let maxDeliveries = 8
    /// The number of crashes of workers after which a session ends with `internal`; fewer than make the bus dead-letter its event
    /// without calling the handler (`RetryPolicy.maxCrashes`).
    static let maxCrashes = 2

    /// Returns whether a sign-in has to continue as if no face were stored, because the stored one is unusable.
    ///
    /// Otherwise the sign-in would end sooner and with another outcome than one for an unknown e-mail, and so disclose the account.
    static func makesTemplateUnusable(_ error: any Error) -> Bool {
        switch error {
        case is IncomparableFace, is CryptoError: true
        case let error as FaceEngineError: error.code == .badTemplate
        default: false
        }
    }

    /// Returns whether the session has to end with `internal` now. While a dependency is unavailable it waits, until its deadline.
    static func isReached(_ error: any Error, deliveryCount: Int) -> Bool {
        if error.isDependencyUnavailable { return false }
        if deliveryCount >= maxDeliveries { return true }
        switch error {
        case let error as BlobStoreError:
            switch error.code {
            case .invalidKey, .notFound, .tooLarge, .damaged: return true
            case .unavailable: return false
            }
        case let error as FaceEngineError:
            switch error.code {
            case .badTemplate: return true
            case .badModel, .noDecoder, .selfCheckFailed, .failed, .overloaded, .closed, .cancelled: return false
            }
        case is IncomparableFace, is CryptoError: return true
        default: return false
        }
    }
}
