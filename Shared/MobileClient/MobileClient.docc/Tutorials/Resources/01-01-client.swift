import Foundation
import MobileClient

/// The one client of the app.
enum Backend {
    static let folder = URL.applicationSupportDirectory.appending(path: "heliograph")

    static let client: HeliographClient = {
        do {
            let configuration = try ClientConfiguration(
                baseURL: URL(string: "https://api.example.org")!, appVersion: "1.0", folder: folder)
            return HeliographClient(configuration: configuration)
        } catch {
            fatalError("The address of the API is wrong: \(error)")
        }
    }()
}
