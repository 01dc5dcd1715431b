import Testing

/// A service is given the keys that its code asks for, and no other.
@Suite struct KeyTests {
    static let services = ["identity-api", "face-matching-worker", "image-worker", "token-registry", "notifier"]
    private static let rings = ["faces": "face-keys", "accounts": "account-keys", "tokens": "token-keys", "pictures": "picture-keys"]
    private static let secrets = ["lookupKeys(": "lookup-keys", "sessionKey(": "session-key", "mediaLinks(": "media-link-key"]

    /// The names of the secrets that the code of a service reads.
    private func needed(by service: String) -> Set<String> {
        let code = Checkout.swift.filter { $0.path.hasPrefix("Services/\(service)/") }.map(\.text).joined()
        let rings = code.matches(of: /\.(?:sealer|blobStore)\(\.([a-z]+)/).compactMap { Self.rings[String($0.output.1)] }
        return Set(rings + Self.secrets.filter { code.contains(".\($0.key)") }.map(\.value))
    }

    private func keys(in text: some StringProtocol) -> Set<String> {
        let all = Set(Self.rings.values).union(Self.secrets.values)
        return Set(String(text).matches(of: /[a-z]+(?:-[a-z]+)*-keys?/).map { String($0.output) }).intersection(all)
    }

    @Test(arguments: services)
    func `a container is given the keys that its code asks for`(service: String) throws {
        let compose = try #require(Checkout.file(at: "docker-compose.yml"))
        let start = try #require(compose.lines.firstIndex(of: "  \(service):"))
        let block = compose.lines[(start + 1)...].prefix { $0.hasPrefix("   ") || $0.isEmpty }
        #expect(keys(in: block.joined(separator: "\n")) == needed(by: service))
    }

    @Test(arguments: services)
    func `a pod is given the keys that its code asks for`(service: String) throws {
        let deployment = try #require(Checkout.file(at: "deploy/kubernetes/base/\(service)/deployment.yaml"))
        let mounted = deployment.lines.filter { $0.contains("{ key: ") }
        let named = deployment.lines.filter { $0.contains("_FILE, value: ") }
        #expect(keys(in: mounted.joined(separator: "\n")) == needed(by: service))
        #expect(keys(in: named.joined(separator: "\n")) == needed(by: service))
    }

    @Test func `only identity-api has all rings, and token-registry has none`() {
        #expect(needed(by: "identity-api").isSuperset(of: Self.rings.values))
        #expect(needed(by: "token-registry").isEmpty)
        for service in Self.services where service != "identity-api" {
            #expect(needed(by: service).intersection(Self.rings.values).count <= 1)
        }
    }
}
