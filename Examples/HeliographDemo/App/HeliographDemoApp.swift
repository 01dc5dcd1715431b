import MobileClient
import SwiftUI

@main
struct HeliographDemoApp: App {
    @UIApplicationDelegateAdaptor private var delegate: AppDelegate
    @StateObject private var navigation = Navigation()
    @Environment(\.scenePhase) private var phase

    var body: some Scene {
        WindowGroup {
            TabView(selection: $navigation.tab) {
                FaceView().tabItem { Label("Face", systemImage: "faceid") }.tag(Navigation.Tab.face)
                PictureView(jobID: navigation.jobID).tabItem { Label("Picture", systemImage: "photo") }.tag(Navigation.Tab.picture)
                ChatView(conversation: navigation.conversation).tabItem { Label("Chat", systemImage: "message") }.tag(Navigation.Tab.chat)
            }
            // From here on taps have a place. The one that has started the app waits for this.
            .task { Demo.client.push.router.setHandler { [navigation] in await navigation.go($0) } }
        }
        .onChange(of: phase) { phase in
            Task {
                switch phase {
                case .active: await Demo.client.enterForeground()
                case .background: await Demo.client.enterBackground()
                default: break
                }
            }
        }
    }
}

/// The one client of the app.
enum Demo {
    static let appGroup = "group.org.example.heliograph-demo"
    static let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: appGroup)!
        .appendingPathComponent("heliograph")

    static let client: HeliographClient = {
        do {
            let configuration = try ClientConfiguration(
                baseURL: URL(string: "https://api.example.org")!, appVersion: "1.0", folder: folder)
            let storage = ClientStorage(
                keychainService: "api.example.org", accessGroup: "TEAMID.org.example.heliograph-demo", folder: folder)
            return HeliographClient(configuration: configuration, storage: storage)
        } catch {
            fatalError("The address of the API or the app group is wrong: \(error)")
        }
    }()
}

/// Where the app is.
@MainActor final class Navigation: ObservableObject {
    enum Tab { case face, picture, chat }

    @Published var tab = Tab.face
    @Published var jobID: String?
    @Published var conversation = "lunch"

    func go(_ opening: NotificationRouter.Opening) {
        switch opening.route {
        case .job(let id): (tab, jobID) = (.picture, id)
        case .conversation(let id): (tab, conversation) = (.chat, id)
        case .ekyc, .account, .signInConfirmation: tab = .face
        case .event, .invitation, .app, .unknown: break
        }
    }
}
