internal import JSON
public import WireFormat

/// The content of a push: what its author knows when it is requested, without links to pictures, and with texts of people sealed.
public enum PushContent: Sendable, Hashable {
    /// A picture is ready.
    case jobCompleted(JobCompletedPush)
    /// A picture could not be made.
    case jobFailed(JobFailedPush)
    /// An enrolment of a face has succeeded or failed.
    case signUp(SignUpPush)
    /// A recognition of a face has succeeded or failed.
    case signIn(SignInPush)
    /// A topic has new photos.
    case newPhotos(NewPhotosPush)
    /// A message was posted.
    case chatMessage(ChatMessagePush)
    /// The user is invited to a topic.
    case invitation(InvitationPush)
    /// The user's account was changed, or used on another device.
    case accountAlert(AccountAlertPush)
    /// A sign-in on a new device waits to be confirmed.
    case signInConfirmation(SignInConfirmationPush)
    /// An app has to prove that it receives the pushes to its installation.
    case possessionCheck(PossessionCheckPush)
    /// An app's own server has something to say.
    case custom(CustomPush)

    /// The members and the rules of its kind.
    public var push: any PushKind {
        switch self {
        case .jobCompleted(let push): push
        case .jobFailed(let push): push
        case .signUp(let push): push
        case .signIn(let push): push
        case .newPhotos(let push): push
        case .chatMessage(let push): push
        case .invitation(let push): push
        case .accountAlert(let push): push
        case .signInConfirmation(let push): push
        case .possessionCheck(let push): push
        case .custom(let push): push
        }
    }

    /// The kind.
    public var kind: NotificationKind { type(of: push).kind }
}

extension PushContent {
    /// A row holds as much JSON as an event.
    private static let limits = JSONLimits(maxDepth: 128, allowsRepeatedNames: true)

    /// Reads the content of a kind from a member of an object.
    init(_ kind: NotificationKind, from body: BodyReader, member: String) throws(BodyFault) {
        func read<Kind: PushKind>(_ type: Kind.Type) throws(BodyFault) -> PushContent {
            let push: Kind = try body.read(member)
            return push.content
        }
        self = try read(kind.type)
    }

    /// Reads the content of a kind from the JSON that ``encoded()`` returns.
    ///
    /// - Throws: `malformedBody`, with the name of the member and without its value.
    public init(_ kind: NotificationKind, decoding json: [UInt8]) throws(WireFormatError) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(parsing: json, limits: Self.limits)
        } catch {
            throw WireFormatError(.malformedBody, "\(kind.type): the content is not JSON", underlying: error)
        }
        do throws(BodyFault) {
            self = try kind.type.init(json: document.root).content
        } catch {
            throw WireFormatError(.malformedBody, "\(kind.type): \(error)")
        }
    }

    /// Returns the JSON of the members, which the kind is not part of.
    public func encoded() -> [UInt8] { JSONWriter.bytes { push.write(to: &$0) } }
}
