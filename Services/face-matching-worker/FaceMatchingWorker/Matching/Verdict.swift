internal import Accounts
internal import FaceEngine
internal import WireFormat

/// The result of examining a session's photos; the transaction that settles the session decides whether it stands.
enum Verdict: Sendable {
    /// The photos show a face that can be enrolled.
    case enrol(EnrolledFace)
    /// The photos show the account's face.
    case recognised
    /// The photos are refused, for this reason.
    case refused(SessionReason)
}

/// A session after its examination.
struct ExaminedSession: Sendable {
    var verdict: Verdict
    /// The bad photos.
    var problems: [PhotoProblems] = []
    /// The time that its photos have occupied engines for; nil if they could not be examined.
    var engineTime: Duration?
    /// The result of the check for a live person; nil without a challenge, and where the photos were refused before it.
    var liveness: LivenessOutcome?
    /// The fingerprints of the photos, which may not be used again whatever the verdict; none if they could not be examined.
    var photos: [PhotoFingerprint] = []
    /// The accounts with the same face; nil unless the session is a sign-up whose photos are accepted and duplicates are searched for.
    var duplicates: DuplicateSearch.Findings?
    /// The fingerprints of a sign-in's photos for the account: accepted ones stay known when its e-mail changes.
    var photosOfAccount: [PhotoFingerprint] = []
    /// The fingerprints of a sign-in's photos for its e-mail under other lookup keys: they may have been used under those.
    var photosOfOtherKeys: [PhotoFingerprint] = []
}
