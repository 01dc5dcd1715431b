internal import FoundationEssentials
internal import Hummingbird
internal import HummingbirdCore
internal import JSON
internal import NIOCore
internal import Push

/// The installation that a request to unregister names, in the query or the body.
///
/// An unreadable body that names no installation counts as an empty body, so that a faulty logout still silences the device.
enum NamedDevice: APIRequestBody {
    case target(PushTarget)
    /// The request names no installation, and means the sender's own.
    case own
    /// The named value cannot identify an installation.
    case nothing

    static let description: APIBody? = APIBody(
        content: [
            "application/json": .object(optional: [PushTarget.tokenField: .text.orNull, PushTarget.fidField: .text.orNull])
        ],
        maxBytes: DeviceBody.maxBytes, isRequired: false, isLenient: true, example: [PushTarget.tokenField: APIProperty.pushToken])

    static func read(_ request: Request, _ context: APIRequestContext) async throws -> NamedDevice {
        let (token, fid) = (request.query(PushTarget.tokenField), request.query(PushTarget.fidField))
        if token != nil || fid != nil { return named(token, fid) }
        let bytes: [UInt8]
        do {
            bytes = Array(try await request.collectBody(upTo: DeviceBody.maxBytes, context).readableBytesView)
        } catch let error as APIError where error.code == .payloadTooLarge {
            return .own
        }
        return try read(bytes)
    }

    // Inlined into an async function, it may crash the optimiser, as in ``JSONObjectBody``.
    @inline(never)
    private static func read(_ bytes: [UInt8]) throws(APIError) -> NamedDevice {
        do throws(APIError) {
            let body = try JSONBody(parsing: bytes)
            guard body.has(PushTarget.tokenField) || body.has(PushTarget.fidField) else { return .own }
            return named(try? body.text(PushTarget.tokenField), try? body.text(PushTarget.fidField))
        } catch {
            guard let (token, fid) = try form(bytes, or: error) else { return .own }
            return named(token, fid)
        }
    }

    private static func named(_ token: String?, _ fid: String?) -> NamedDevice {
        guard let target = try? PushTarget(ofClientToken: token, fid: fid) else { return .nothing }
        return .target(target)
    }

    /// Reads a body that is not JSON as a browser's form (`device_token=…`); nil for a form that names no installation.
    ///
    /// - Throws: The refusal of a body that names an installation in some other way: it may not mean the sender's own.
    private static func form(_ bytes: [UInt8], or refusal: APIError) throws(APIError) -> (token: String?, fid: String?)? {
        let text = String(decoding: bytes, as: UTF8.self)
        let values = URI("/?\(text)").queryParameters
        let (token, fid) = (values[PushTarget.tokenField[...]], values[PushTarget.fidField[...]])
        if token != nil || fid != nil { return (token.map { String($0) }, fid.map { String($0) }) }
        if text.contains(PushTarget.tokenField) || text.contains("\"\(PushTarget.fidField)\"") { throw refusal }
        return nil
    }
}

extension APIArgument<Void> {
    /// The queries by which ``NamedDevice`` names an installation.
    static let namedDevice = APIArgument(
        APIParameter(name: PushTarget.tokenField, place: .query, schema: .text, summary: "The push token"),
        APIParameter(name: PushTarget.fidField, place: .query, schema: .text, summary: "The Firebase installation id")
    ) { _, _ in }
}
