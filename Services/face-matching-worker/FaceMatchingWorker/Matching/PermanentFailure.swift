internal import BlobStore
internal import FaceEngine
internal import HeliographCrypto

/// Tells failures that another try may mend from those it will not.
enum PermanentFailure {
    /// The deliveries after which a session fails: after about a minute, long before its deadline.
    static let maxDeliveries = 8
    /// The worker crashes after which a session fails; fewer than those after which the bus dead-letters its event.
    static let maxCrashes = 2

    /// Whether a sign-in has to go on as if there were no face, because the stored one cannot be used any more.
    ///
    /// It would otherwise end in another way and sooner than one for an unknown e-mail, which tells who has an account.
    static func makesTemplateUnusable(_ error: any Error) -> Bool {
        switch error {
        case is IncomparableFace, is CryptoError: true
        case let error as FaceEngineError: error.code == .badTemplate
        default: false
        }
    }

    /// Whether the session should be ended with `internal` now.
    static func isReached(_ error: any Error, deliveryCount: Int) -> Bool {
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
            case .badModel, .selfCheckFailed, .failed, .overloaded, .closed, .cancelled: return false
            }
        case is IncomparableFace, is CryptoError: return true
        default: return false
        }
    }
}
