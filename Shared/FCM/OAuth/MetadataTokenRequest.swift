internal import FoundationEssentials
internal import HTTPClient

/// Requests a token of the attached service account from the metadata server of a machine or pod in Google's cloud, so that no key
/// needs to be kept (https://cloud.google.com/compute/docs/access/authenticate-workloads).
///
/// The server caches a token until five minutes before its expiry, so that an early request may return the same token with its
/// remaining lifetime; it is then requested again.
struct MetadataTokenRequest: TokenRequest {
    /// The server's name, and its address for machines without a resolver.
    private static let knownHosts: Set = [defaultHost, "169.254.169.254"]
    static let defaultHost = "metadata.google.internal"
    private static let flavor = (name: "Metadata-Flavor", value: "Google")
    private static let name = "the metadata server"

    private let url: String
    private let http: HTTPClient
    private let timeout: Duration

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - host: `name` or `name:port`; nil means Google's.
    ///   - timeout: The time limit of the request.
    /// - Throws: `configuration` when the host is not Google's and not this machine.
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
            let response = try await http.requestToken(Self.name, request)
            // Another server under that name, such as a captive portal, does not send this header.
            guard response.header(Self.flavor.name) == Self.flavor.value else {
                throw FCMError(.tokenUnavailable, "the response is not from \(Self.name) of Google's cloud")
            }
            return .success(try TokenGrant(response, of: Self.name))
        } catch {
            return .failure(error)
        }
    }
}
