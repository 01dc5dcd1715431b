internal import FoundationEssentials
internal import HTTPClient

/// Asks the metadata server of a machine or pod in Google's cloud for a token of the service account it runs as, so that there
/// is no key to keep (https://cloud.google.com/compute/docs/access/authenticate-workloads).
///
/// The server keeps a token until five minutes before its end and hands out what is left of it, so that one which is asked for
/// early may come back with the same end; it is asked for again then.
struct MetadataTokenRequest: TokenRequest {
    /// The name under which the server is found there, and its address for those without a resolver.
    private static let knownHosts: Set = [defaultHost, "169.254.169.254"]
    static let defaultHost = "metadata.google.internal"
    private static let flavor = (name: "Metadata-Flavor", value: "Google")
    private static let name = "the metadata server"

    private let url: String
    private let http: HTTPClient
    private let timeout: Duration

    /// Prepares to ask.
    ///
    /// - Parameters:
    ///   - host: A name and perhaps a port; nil means Google's.
    ///   - timeout: How long an answer may take.
    /// - Throws: `configuration` when it is neither Google's nor this machine.
    init(host: String?, timeout: Duration, http: HTTPClient) throws(FCMError) {
        let base = "http://\(host ?? Self.defaultHost)"
        if let fault = HTTPEndpoint.fault(in: base), !Self.knownHosts.contains(host ?? Self.defaultHost) {
            throw FCMError(.configuration, "the URL of the metadata server \(fault)")
        }
        url = "\(base)/computeMetadata/v1/instance/service-accounts/default/token?scopes=\(TokenGrant.scope)"
        self.http = http
        self.timeout = timeout
    }

    func grant(at time: Date) async -> Result<TokenGrant, FCMError> {
        let request = HTTPClientRequest(
            method: "GET", url: url, headers: [(Self.flavor.name, Self.flavor.value)], timeout: timeout)
        do throws(FCMError) {
            let response = try await http.ask(Self.name, request)
            // Whoever else listens under that name does not say so; a hotel's login page, for one.
            guard response.header(Self.flavor.name) == Self.flavor.value else {
                throw FCMError(.tokenUnavailable, "what answered is not \(Self.name) of Google's cloud")
            }
            return .success(try TokenGrant(response, of: Self.name))
        } catch {
            return .failure(error)
        }
    }
}
