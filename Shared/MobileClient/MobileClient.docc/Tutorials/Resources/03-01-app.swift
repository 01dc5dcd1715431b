import MobileClient
import SwiftUI

@main
struct ExampleApp: App {
    @UIApplicationDelegateAdaptor private var delegate: AppDelegate
    @Environment(\.scenePhase) private var phase

    var body: some Scene {
        WindowGroup {
            SignInView(photos: CameraFiles.front)
        }
        .onChange(of: phase) { phase in
            Task {
                switch phase {
                case .active: await Backend.client.enterForeground()
                case .background: await Backend.client.enterBackground()
                default: break
                }
            }
        }
    }
}

/// Where the camera of the app leaves its photos.
enum CameraFiles {
    static var front: [EKYCClient.Photo] {
        (1...3).map { .file(URL.documentsDirectory.appending(path: "front-\($0).jpg")) }
    }
}
